import { z } from 'zod'
import { FloatingSeats, type KeyType } from '../../domain/products/key-type.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, textField } from '../forms/form-fields.ts'
import { given, optionalWhole } from '../forms/typed.ts'
import { inUnits, secondsIn, unit, unitChoices } from './time-units.ts'

const longestSeat = 90 * 86_400
/** Where a member fills in no period. */
const usualSeconds = 600

/** How the seats of a key type float, as a member fills it in. */
export const floatingFields = {
  seatPolicy: z.enum(['device', 'floating', 'named']).optional().default('device'),
  seatCount: optionalWhole(1, longestSeat),
  seatUnit: unit.optional().default('minute'),
  overdraftCount: given.refine((text) => /^(\d{1,6}(\.\d{1,4})?)?$/.test(text), 'Enter a number.'),
  overdraftUnit: z.enum(['seats', 'percent']).optional().default('seats'),
  seatScope: FloatingSeats.shape.scope.optional().default('device'),
  maxBorrowDays: optionalWhole(1, 366),
  maxBorrowed: optionalWhole(1, 1000),
  relayDays: optionalWhole(1, 366),
}
const Fields = z.object(floatingFields)
type Fields = z.infer<typeof Fields>

/** What was filled in; null where seats do not float. It may break a rule: see {@link withFloatingSeats}. */
export const floatingOf = (fields: Fields): FloatingSeats | null =>
  fields.seatPolicy !== 'floating'
    ? null
    : {
        seatSeconds: fields.seatCount === null ? usualSeconds : secondsIn(fields.seatCount, fields.seatUnit),
        overdraft: overdraftOf(fields),
        scope: fields.seatScope,
        ...(fields.maxBorrowDays !== null && { maxBorrowDays: fields.maxBorrowDays }),
        ...(fields.maxBorrowed !== null && { maxBorrowed: fields.maxBorrowed }),
        ...(fields.relayDays !== null && { relays: { maxDays: fields.relayDays } }),
      }

function overdraftOf({ overdraftCount, overdraftUnit }: Fields): FloatingSeats['overdraft'] {
  const count = Number(overdraftCount)
  if (count === 0) return null
  return overdraftUnit === 'seats' ? { seats: count } : { share: rounded(count / 100) }
}

/** Without the digits that come from counting in binary: 33.3 % are 0.333. */
const rounded = (number: number): number => Number(number.toFixed(6))

const wrongIn: Readonly<Record<string, readonly [field: keyof Fields, sentence: string]>> = {
  seatSeconds: ['seatCount', 'Enter a period from 60 seconds to 90 days.'],
  overdraft: ['overdraftCount', 'Enter a whole number of seats up to 100,000, or up to 100 percent.'],
}

/** What concerns several fields. */
const wrongTogether = ({ seatScope }: Fields): readonly [field: keyof Fields, sentence: string] =>
  seatScope === 'device'
    ? ['maxBorrowed', 'Fill in both fields about borrowing, or neither.']
    : [
        'seatScope',
        'Only the seats of devices can be borrowed. Choose devices, or empty the fields about borrowing.',
      ]

/** A form of a key type whose seats may float. */
export const withFloatingSeats = <Form extends z.ZodType<Fields>>(form: Form) =>
  form.superRefine((fields, context) => {
    for (const { path } of FloatingSeats.nullable().safeParse(floatingOf(fields)).error?.issues ?? []) {
      const [field, message] = wrongIn[String(path[0])] ?? wrongTogether(fields)
      context.addIssue({ code: 'custom', path: [field], message })
    }
  })

/** The first values of a form about this key type. */
export function floatingValues({
  floatingSeats,
  namedSeats,
}: Pick<KeyType, 'floatingSeats' | 'namedSeats'>): Record<keyof Fields, string> {
  const { seatSeconds = usualSeconds, overdraft = null, scope = 'device' } = floatingSeats ?? {}
  const { maxBorrowDays = '', maxBorrowed = '', relays } = floatingSeats ?? {}
  const { count, unit: seatUnit } = inUnits(seatSeconds)
  const isShare = overdraft !== null && 'share' in overdraft
  return {
    seatPolicy: floatingSeats ? 'floating' : namedSeats ? 'named' : 'device',
    seatCount: count,
    seatUnit,
    overdraftCount:
      overdraft === null ? '' : String(isShare ? rounded(overdraft.share * 100) : overdraft.seats),
    overdraftUnit: isShare ? 'percent' : 'seats',
    seatScope: scope,
    maxBorrowDays: String(maxBorrowDays),
    maxBorrowed: String(maxBorrowed),
    relayDays: String(relays?.maxDays ?? ''),
  }
}

const policies = [
  ['device', 'A device keeps its seat until it gives it back'],
  ['floating', 'Seats float: a device has one only as long as it calls'],
  ['named', 'A person of an organization has the seat, for devices of their own'],
] as const

const scopes = [
  ['device', 'Each device'],
  ['process', 'Each process, such as of a render farm'],
  ['user', 'Each user, on any number of devices'],
] as const

const overdraftUnits = [
  ['seats', 'seats'],
  ['percent', 'percent of the devices'],
] as const

/** The fields of the form. */
export const floatingInputs = (form: FilledForm): Html => html`<div class="stack">
  ${choiceField(form, {
    name: 'seatPolicy',
    label: 'Seats',
    hint: 'The devices of a license that floats are its seats: more devices may share them. Those of one whose seats are of people are the people who may have one.',
    choices: policies,
  })}
  <fieldset class="pair">
    <legend>Period of a floating seat</legend>
    ${textField(form, {
      name: 'seatCount',
      label: 'Number',
      hint: 'How long a seat lasts after a call of its device, 60 seconds to 90 days. Leave empty for 10 minutes.',
      required: false,
      inputmode: 'numeric',
      maxlength: 7,
    })}
    ${choiceField(form, { name: 'seatUnit', label: 'Unit', choices: unitChoices })}
  </fieldset>
  <fieldset class="pair">
    <legend>Overdraft</legend>
    ${textField(form, {
      name: 'overdraftCount',
      label: 'Number',
      hint: 'Seats that may be taken above the limit. Leave empty for none.',
      required: false,
      maxlength: 11,
    })}
    ${choiceField(form, { name: 'overdraftUnit', label: 'Unit', choices: overdraftUnits })}
  </fieldset>
  ${choiceField(form, { name: 'seatScope', label: 'What takes a floating seat', choices: scopes })}
  <fieldset class="pair">
    <legend>Borrowing of floating seats</legend>
    ${textField(form, {
      name: 'maxBorrowDays',
      label: 'Days',
      hint: 'How long a device may go on without a network. Leave both empty for no borrowing.',
      required: false,
      inputmode: 'numeric',
      maxlength: 3,
    })}
    ${textField(form, {
      name: 'maxBorrowed',
      label: 'Seats at once',
      hint: 'How many seats may be borrowed at the same time.',
      required: false,
      inputmode: 'numeric',
      maxlength: 4,
    })}
  </fieldset>
  ${textField(form, {
    name: 'relayDays',
    label: 'Days of a relay without renewal',
    hint: "Relays inside a customer's network give out seats without this server for so long. Leave empty for no relays.",
    required: false,
    inputmode: 'numeric',
    maxlength: 3,
  })}
</div>`
