import { z } from 'zod'
import { KeySharing } from '../../domain/products/key-sharing.ts'
import type { Html } from '../../html.ts'
import { html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, textField } from '../forms/form-fields.ts'
import { checked, given, optionalWhole, wordsIn } from '../forms/typed.ts'

const networks = KeySharing.shape.allow.unwrap()

/** Addresses and networks with spaces or commas, or none. */
const allowedNetworks = given.transform(wordsIn).transform((typed, context) => {
  const allowed = networks.safeParse(typed)
  if (allowed.success) return allowed.data
  context.addIssue({
    code: 'custom',
    message: 'Enter at most 100 addresses or networks, for example 203.0.113.0/24, 2001:db8::/48.',
  })
  return z.NEVER
})

/** The fields of the rules about key sharing. */
export const sharingFields = {
  networksPerDay: optionalWhole(1, 1000),
  countriesPerDay: optionalWhole(1, 250),
  hopsPerWeek: optionalWhole(1, 1000),
  suspendShared: checked,
  allowedNetworks,
}

type Typed = Record<'networksPerDay' | 'countriesPerDay' | 'hopsPerWeek', number | null> & {
  suspendShared: boolean
  allowedNetworks: readonly string[]
}

/** The rules as the command takes them; null when nothing is filled in. */
export function sharingRules({ suspendShared, allowedNetworks: allowed, ...form }: Typed): KeySharing | null {
  const { networksPerDay, countriesPerDay, hopsPerWeek } = form
  const rules = {
    ...(networksPerDay !== null && { networksPerDay }),
    ...(countriesPerDay !== null && { countriesPerDay }),
    ...(hopsPerWeek !== null && { hopsPerWeek }),
    ...(allowed.length > 0 && { allow: [...allowed] }),
  }
  if (Object.keys(rules).length === 0 && !suspendShared) return null
  return { ...rules, action: suspendShared ? 'suspend' : 'show' }
}

const asTyped = (limit: number | undefined): string => (limit === undefined ? '' : String(limit))

/** The fields as they are filled in for these rules. */
export const typedSharing = (rules: KeySharing | undefined) => ({
  networksPerDay: asTyped(rules?.networksPerDay),
  countriesPerDay: asTyped(rules?.countriesPerDay),
  hopsPerWeek: asTyped(rules?.hopsPerWeek),
  suspendShared: rules?.action === 'suspend' ? 'on' : '',
  allowedNetworks: rules?.allow?.join(', ') ?? '',
})

/** The inputs of the rules. */
export const sharingInputs = (form: FilledForm): Html => html`<div class="stack">
  ${limitField(form, 'networksPerDay', 'Networks of a seat in a day', 'A license looks shared when one of its seats is used from more networks on a day.')}
  ${limitField(form, 'countriesPerDay', 'Countries of a seat in a day', 'The same for countries. It needs a database of countries, which the operator of this installation sets up.')}
  ${limitField(form, 'hopsPerWeek', 'Moves of seats in a week', 'A license looks shared when its seats move from device to device more often within 7 days.')}
  ${textField(form, {
    name: 'allowedNetworks',
    label: 'Networks that do not count',
    hint: 'Addresses and networks such as those of a VPN, for example 203.0.113.0/24, 2001:db8::/48.',
    required: false,
    maxlength: 5000,
  })}
  ${checkField(form, {
    name: 'suspendShared',
    label: 'Suspend licenses that look shared',
    hint: 'Without this, they are only shown.',
  })}
</div>`

const limitField = (form: FilledForm, name: keyof typeof sharingFields, label: string, hint: string): Html =>
  textField(form, {
    name,
    label,
    hint: `${hint} Leave empty for no such rule.`,
    required: false,
    inputmode: 'numeric',
    maxlength: 4,
  })

/** `4 networks a day, 5 moves a week; suspended` */
export function sharingWords(rules: KeySharing | undefined): string {
  if (rules === undefined) return 'not watched'
  const { networksPerDay, countriesPerDay, hopsPerWeek, action } = rules
  const limits = [
    networksPerDay !== undefined && `${networksPerDay} networks a day`,
    countriesPerDay !== undefined && `${countriesPerDay} countries a day`,
    hopsPerWeek !== undefined && `${hopsPerWeek} moves a week`,
  ].filter((part) => part !== false)
  return `${limits.join(', ') || 'no limits'}; beyond that ${action === 'suspend' ? 'suspended' : 'shown'}`
}
