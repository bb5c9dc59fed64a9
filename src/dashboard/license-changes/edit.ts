import { z } from 'zod'
import { editLicense } from '../../commands/licenses/edit.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { EmailAddress, Slug } from '../../domain/values.ts'
import { undatedEnd } from '../../history/sentences.ts'
import { type Content, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, textArea, textField } from '../forms/form-fields.ts'
import { pairs, pairsText } from '../forms/pairs.ts'
import { optionalLine, optionalOf, wantedWhole } from '../forms/typed.ts'
import { day, deviceLimit } from '../new-license/form.ts'
import { type AboutLicense, changeInput, licenseChange, withReason } from './change.ts'

const schema = withReason({
  email: optionalOf(EmailAddress, 'Enter an email address, for example ada@example.com.'),
  name: optionalLine(200),
  keyTypeId: Slug,
  quantity: wantedWhole(1, 100_000),
  deviceLimit,
  expiry: z.enum(['keep', 'never', 'day']).optional().default('keep'),
  expiresOn: optionalOf(day, 'Enter a day as 2027-11-21.'),
  updates: z.enum(['keep', 'never', 'day']).optional().default('keep'),
  updatesOn: optionalOf(day, 'Enter a day as 2027-11-21.'),
  metadata: pairs,
}).superRefine(({ expiry, expiresOn, updates, updatesOn, email, name }, context) => {
  const wanted = [
    ['expiresOn', expiry, expiresOn],
    ['updatesOn', updates, updatesOn],
  ] as const
  for (const [path, choice, on] of wanted) {
    if (choice !== 'day' || on !== undefined) continue
    context.addIssue({ code: 'custom', path: [path], message: 'Enter a day as 2027-11-21.' })
  }
  if (name !== undefined && email === undefined) {
    const message = 'Enter the email address too: a name is only stored together with one.'
    context.addIssue({ code: 'custom', path: ['email'], message })
  }
})

/** Everything that a vendor can change in a license. */
export const editChange = licenseChange({
  name: 'edit',
  label: 'Edit',
  title: 'Edit license',
  button: 'Save changes',
  lead: () => 'Changes apply from the next check or activation.',
  fits: ({ revokedAt }) => revokedAt === null,
  schema,
  values: ({ license, person }) => ({
    email: person.email ?? '',
    name: person.name ?? '',
    keyTypeId: license.keyTypeId,
    quantity: String(license.quantity),
    metadata: pairsText(license.metadata),
  }),
  fields,
  async run(ports, about, { reason, expiry, expiresOn, updates, updatesOn, email, name, ...typed }, origin) {
    const change = {
      ...typed,
      metadata: isWritable(about) ? typed.metadata : undefined,
      email: email ?? null,
      name: name ?? null,
      expiresAt: endOf(expiry, expiresOn),
      updatesUntil: endOf(updates, updatesOn),
    }
    await editLicense(ports, changeInput(about, { reason }), change, origin)
    return undefined
  },
  problems: {
    key_type_not_found: ['keyTypeId', 'This key type was deleted. Choose another.'],
    quantity_not_allowed: ['quantity', 'This key type is not sold in multiples. Enter 1.'],
    quantity_too_large: ['quantity', 'The quantity is above the largest quantity of the key type.'],
    expiry_in_the_past: ['expiresOn', 'Enter a day in the future.'],
  },
})

/** The end as the command takes it: undefined keeps it, null is none, else the end of the day that was typed, in UTC. */
const endOf = (choice: 'keep' | 'never' | 'day', on: string | undefined): string | null | undefined =>
  choice === 'keep' ? undefined : choice === 'never' ? null : `${on}T23:59:59.000Z`

function fields(form: FilledForm, about: AboutLicense): Content {
  const { license, keyTypes } = about
  const known = keyTypes.map(({ keyTypeId, name }) => [keyTypeId, name] as const)
  const isDeleted = keyTypes.every(({ keyTypeId }) => keyTypeId !== license.keyTypeId)
  const choices = isDeleted ? [[license.keyTypeId, license.keyTypeId] as const, ...known] : known
  const limit = license.deviceLimit === null ? 'unlimited' : license.deviceLimit.toLocaleString('en')
  return [
    textField(form, {
      name: 'email',
      label: 'Email',
      type: 'email',
      hint: 'Of the person who has the license. Leave empty for none.',
      required: false,
      maxlength: 254,
    }),
    textField(form, { name: 'name', label: 'Name', required: false, maxlength: 200 }),
    choiceField(form, { name: 'keyTypeId', label: 'Key type', choices }),
    textField(form, { name: 'quantity', label: 'Quantity', inputmode: 'numeric', maxlength: 6 }),
    textField(form, {
      name: 'deviceLimit',
      label: 'Device limit',
      hint: `Now ${limit}. A number, or “unlimited”. Leave empty to keep it; changing the key type or quantity sets a new limit.`,
      required: false,
      maxlength: 9,
    }),
    choiceField(form, { name: 'expiry', label: 'Expires', choices: expiriesOf(license) }),
    textField(form, {
      name: 'expiresOn',
      label: 'Day',
      hint: 'Only for an expiry at the end of a day, for example 2027-11-21.',
      required: false,
      maxlength: 10,
    }),
    choiceField(form, {
      name: 'updates',
      label: 'Covers builds of your app',
      choices: updatesOf(license.updatesUntil),
    }),
    textField(form, {
      name: 'updatesOn',
      label: 'Last day of updates',
      hint: 'Only for builds until the end of a day, for example 2027-11-21.',
      required: false,
      maxlength: 10,
    }),
    isWritable(about) &&
      textArea(form, {
        name: 'metadata',
        label: 'Metadata',
        hint: html`A pair in each line: <code>order: A-1042</code>`,
        required: false,
      }),
  ]
}

function expiriesOf({ expiresAt, startsWith }: IssuedLicense) {
  const isForever = expiresAt === null && startsWith === null
  return [
    ['keep', isForever ? 'Never, as now' : `As now: ${expiresAt?.slice(0, 10) ?? undatedEnd(startsWith)}`],
    ...(isForever ? [] : [['never', 'Never'] as const]),
    ['day', 'At the end of a day (UTC)'],
  ] as const
}

const updatesOf = (updatesUntil: string | null) =>
  [
    ['keep', updatesUntil === null ? 'All, as now' : `As now: until ${updatesUntil.slice(0, 10)}`],
    ...(updatesUntil === null ? [] : [['never', 'All'] as const]),
    ['day', 'Until the end of a day (UTC)'],
  ] as const

/** Whether its metadata can be written as lines without a loss; other metadata is changed over the API. */
const isWritable = ({ license }: AboutLicense): boolean =>
  Object.entries(license.metadata).every(
    ([name, value]) =>
      name !== '' &&
      !name.includes(':') &&
      [name, value].every((text) => text === text.trim() && !/[\r\n]/.test(text)),
  )
