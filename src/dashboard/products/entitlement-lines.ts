import type { z } from 'zod'
import {
  EntitlementValue,
  type EntitlementValues,
  valueNamed,
  valuesOf,
} from '../../domain/products/entitlement-values.ts'
import { Entitlement, entitlementSet } from '../../domain/products/key-type.ts'
import { entitlementsWritten, valueWritten } from '../../domain/products/written-values.ts'
import { given, wordsIn } from '../forms/typed.ts'

type Lines = { names: string[]; values: EntitlementValues }

const wrongValue =
  'has no value that can be used. Enter a number, true, or text of up to 200 characters; instead of false, leave out the line.'

/** The entitlements that a member types into a text area: names, or a name with a value, `projects = 25`, on its own line. */
export const entitlementLines = given.transform((text, context): Lines => {
  const complain = (message: string) => context.addIssue({ code: 'custom', message })
  const names: string[] = []
  const values = new Map<string, EntitlementValue>()
  for (const line of text.split(/\r?\n/)) {
    const equals = line.indexOf('=')
    if (equals < 0) {
      names.push(...wordsIn(line))
      continue
    }
    const name = line.slice(0, equals).trim()
    const value = EntitlementValue.safeParse(valueWritten(line.slice(equals + 1)))
    if (!value.success) complain(`“${name}” ${wrongValue}`)
    else if ((values.get(name) ?? value.data) !== value.data) complain(`“${name}” ${twoValues}`)
    else values.set(name, value.data)
    names.push(name)
  }
  if (names.length > 100) complain('Enter at most 100 entitlements.')
  const wrong = names.find((name) => !Entitlement.safeParse(name).success)
  if (wrong !== undefined) {
    complain(
      `“${wrong}” cannot be used. An entitlement begins with a lowercase letter or a digit, and has only lowercase letters, digits and . _ : -`,
    )
  }
  return { names: entitlementSet(names), values: Object.fromEntries(values) }
})

const twoValues = 'has two different values. Enter one of them.'

type Both = { entitlements: Lines; fallbackEntitlements: Lines }

/** A form with both lists of a key type: an entitlement that is in both has one value. */
export const withOneValueEach = <Form extends z.ZodType<Both>>(form: Form) =>
  form.superRefine(({ entitlements, fallbackEntitlements }, context) => {
    const own = valuesOf(fallbackEntitlements.names, entitlements.values)
    const differs = Object.entries(own).find(
      ([name, value]) => (valueNamed(name, fallbackEntitlements.values) ?? value) !== value,
    )
    if (!differs) return
    const message = `“${differs[0]}” ${twoValues}`
    context.addIssue({ code: 'custom', path: ['fallbackEntitlements'], message })
  })

/** The lists of a key type as they are typed. A value is shown once, with the entitlements if these have its name. */
export function linesOf(keyType: {
  entitlements: readonly string[]
  fallbackEntitlements: readonly string[]
  entitlementValues?: EntitlementValues | undefined
}): Record<keyof Both, string> {
  const { entitlements, fallbackEntitlements, entitlementValues = {} } = keyType
  const others = fallbackEntitlements.filter((name) => !entitlements.includes(name))
  return {
    entitlements: entitlementsWritten(entitlements, entitlementValues).join('\n'),
    fallbackEntitlements: entitlementsWritten(fallbackEntitlements, valuesOf(others, entitlementValues)).join(
      '\n',
    ),
  }
}
