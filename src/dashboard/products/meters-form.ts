import { z } from 'zod'
import { periodKinds } from '../../domain/meters/period.ts'
import { MeterTerms, maxMeters, usualThresholds } from '../../domain/meters/terms.ts'
import type { KeyType } from '../../domain/products/key-type.ts'
import { type Html, html } from '../../html.ts'
import { type FilledForm, typedIn } from '../forms/filled-form.ts'
import { checkField, choiceField, textField } from '../forms/form-fields.ts'
import { checked, given, wordsIn } from '../forms/typed.ts'

/** The fields of one meter. On the form, their names end with the number of the meter: `meterId1`, `meterUnit1`. */
const slotFields = {
  meterId: given,
  meterUnit: given,
  meterIncluded: given,
  meterPeriod: z.enum(periodKinds).optional().default('month'),
  meterOverage: MeterTerms.shape.overage.optional().default('block'),
  meterLimit: given,
  meterRollover: checked,
  meterThresholds: given.transform(wordsIn),
  meterRemoved: checked,
}
const Slot = z.object(slotFields)
type Slot = z.infer<typeof Slot>
type SlotField = keyof Slot

const names = Object.keys(slotFields) as SlotField[]
const slots = Array.from({ length: maxMeters }, (_, index) => index + 1)

/** The meters of a key type, in the order of their numbers. Undefined on a page that did not show them. */
export const meterFields = { meters: z.array(Slot).optional() }
const Fields = z.object(meterFields)
type Fields = z.infer<typeof Fields>

/** A form of a key type with its meters. */
export const withMeters = <Form extends z.ZodType<Fields>>(form: Form) =>
  z.preprocess(
    collected,
    form.superRefine(({ meters = [] }, context) => {
      for (const [field, message] of meters.flatMap(problemsIn))
        context.addIssue({ code: 'custom', path: [field], message })
    }),
  )

/** The numbered fields that a browser sent, as a list of meters. */
function collected(sent: unknown): unknown {
  const typed = new Map(Object.entries(sent ?? {}))
  if (!typed.has('meterId1')) return sent
  const meters = slots.map((slot) =>
    Object.fromEntries(names.map((name) => [name, typed.get(`${name}${slot}`)])),
  )
  return { ...Object.fromEntries(typed), meters }
}

/** Without these, no meter is meant. */
const named = ['meterId', 'meterUnit', 'meterIncluded'] as const

const isEmpty = (slot: Slot): boolean => slot.meterRemoved || named.every((name) => slot[name] === '')

const termsOf = (slot: Slot) => ({
  meter: slot.meterId,
  unit: slot.meterUnit,
  included: slot.meterIncluded,
  period: slot.meterPeriod,
  overage: slot.meterOverage,
  overageLimit: slot.meterLimit === '' ? null : slot.meterLimit,
  rollover: slot.meterRollover,
  thresholds: slot.meterThresholds.map((word) => (/^\d{1,4}%?$/.test(word) ? Number.parseInt(word, 10) : 0)),
})

/** The meters that were filled in, of a form that {@link withMeters} accepted; undefined where the page had no fields for them. */
export const metersOf = ({ meters }: Fields): MeterTerms[] | undefined =>
  meters?.filter((slot) => !isEmpty(slot)).map((slot) => MeterTerms.parse(termsOf(slot)))

/** Of which field a rule of the domain speaks, and what to enter there. */
const wrongIn: Readonly<Record<string, readonly [SlotField, string]>> = {
  meter: ['meterId', 'Use lowercase letters, digits and hyphens.'],
  unit: ['meterUnit', 'Enter what is counted in up to 40 characters, for example calls.'],
  included: [
    'meterIncluded',
    'Enter a number with up to 6 decimal places, for example 10000; 0 for nothing.',
  ],
  thresholds: [
    'meterThresholds',
    'Enter up to ten different whole percentages from 1 to 1000, for example 80, 100.',
  ],
  rollover: ['meterPeriod', 'A meter that never resets carries nothing over. Choose another period.'],
}

function problemsIn(slot: Slot, index: number, all: readonly Slot[]): [field: string, message: string][] {
  if (isEmpty(slot)) return []
  const issues = MeterTerms.safeParse(termsOf(slot)).error?.issues ?? []
  const problems = issues.map(({ path }) => wrongIn[String(path[0])] ?? wrongLimit(slot))
  const isTaken = all.slice(0, index).some((other) => !isEmpty(other) && other.meterId === slot.meterId)
  if (isTaken) problems.push(['meterId', 'Another meter has this ID. Enter another one.'])
  return problems.map(([name, message]) => [`${name}${index + 1}`, message])
}

const wrongLimit = ({ meterOverage }: Slot): readonly [SlotField, string] => [
  'meterLimit',
  meterOverage === 'block'
    ? 'Leave this empty where uses beyond what is included are refused.'
    : 'Enter a number with up to 6 decimal places, or leave this empty for no limit.',
]

/** The first values of a form about this key type, and of the fields of one more meter. */
export const metersValues = ({ meters = [] }: Pick<KeyType, 'meters'>): Record<string, string> =>
  Object.fromEntries(
    [...meters.map(slotValues), newSlot].flatMap((values, index) =>
      Object.entries(values).map(([name, value]) => [`${name}${index + 1}`, value]),
    ),
  )

const newSlot = { meterPeriod: 'month', meterThresholds: usualThresholds.join(', ') }

const slotValues = (terms: MeterTerms): Record<Exclude<SlotField, 'meterRemoved'>, string> => ({
  meterId: terms.meter,
  meterUnit: terms.unit,
  meterIncluded: terms.included,
  meterPeriod: terms.period,
  meterOverage: terms.overage,
  meterLimit: terms.overageLimit ?? '',
  meterRollover: terms.rollover ? 'on' : '',
  meterThresholds: terms.thresholds.join(', '),
})

const periods: Record<MeterTerms['period'], string> = {
  day: 'Each day',
  week: 'Each week, from Monday',
  month: 'Each month',
  license: 'Never',
  purchase: 'With each purchase or renewal',
}

const overages = [
  ['block', 'Are refused'],
  ['allow', 'Are allowed and counted'],
  ['notify', 'Are allowed and counted, and each further full amount is announced'],
] as const satisfies readonly (readonly [MeterTerms['overage'], string])[]

/** The meters that the form has, each collapsed, and the fields of one more. */
export function metersInputs(form: FilledForm): Html {
  const filled = slots.findLast((slot) => named.some((name) => typedIn(form, `${name}${slot}`) !== '')) ?? 0
  return html`<fieldset class="stack-tight">
    <legend>Meters</legend>
    <p class="hint">
      What a license uses, such as calls, minutes or tokens. Amounts are exact to 6 decimal places, and periods are
      those of the calendar in UTC.
    </p>
    ${slots.slice(0, filled + 1).map((slot) => slotInputs(form, slot))}
  </fieldset>`
}

function slotInputs(form: FilledForm, slot: number): Html {
  const of = (name: SlotField): string => `${name}${slot}`
  const id = typedIn(form, of('meterId'))
  const isWrong = names.some((name) => form.problems[of(name)] !== undefined)
  return html`<details class="meter-slot" open=${isWrong}>
    <summary>${id === '' ? 'Add a meter' : id}</summary>
    <div class="stack">
      ${textField(form, {
        name: of('meterId'),
        label: 'Meter ID',
        hint: 'As your app names it, for example api-calls. Under another ID, counting starts from 0.',
        required: false,
        maxlength: 63,
      })}
      ${textField(form, {
        name: of('meterUnit'),
        label: 'Unit',
        hint: 'What is counted, as people read it, for example calls.',
        required: false,
        maxlength: 40,
      })}
      ${textField(form, {
        name: of('meterIncluded'),
        label: 'Included in each period',
        hint: 'For example 10000, or 0 where everything is prepaid.',
        required: false,
        maxlength: 19,
      })}
      ${choiceField(form, {
        name: of('meterPeriod'),
        label: 'Resets',
        choices: periodKinds.map((kind) => [kind, periods[kind]] as const),
      })}
      ${choiceField(form, {
        name: of('meterOverage'),
        label: 'Uses beyond what is included and prepaid',
        choices: overages,
      })}
      ${textField(form, {
        name: of('meterLimit'),
        label: 'Limit beyond it',
        hint: 'How much more is counted in a period at most. Leave empty for no limit.',
        required: false,
        maxlength: 19,
      })}
      ${checkField(form, {
        name: of('meterRollover'),
        label: 'Carry over',
        hint: 'What a period includes and was not used is there in the next one, and only in that.',
      })}
      ${textField(form, {
        name: of('meterThresholds'),
        label: 'Announced at',
        hint: 'Percentages of what there is at which you are told, for example 80, 100. Leave empty for none.',
        required: false,
        maxlength: 60,
      })}
      ${
        id !== '' &&
        checkField(form, {
          name: of('meterRemoved'),
          label: 'Remove this meter',
          hint: 'Licenses can use nothing under it any more. What was used stays in their lines.',
        })
      }
    </div>
  </details>`
}
