import { z } from 'zod'
import type { KeyType, NamedSeats } from '../../domain/products/key-type.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { textField } from '../forms/form-fields.ts'
import { optionalWhole } from '../forms/typed.ts'
import { floatingFields } from './floating-form.ts'

/** Where a member fills in no number. */
const usualDevices = 2

/** What people may do with the seats of a key type, as a member fills it in. */
export const namedFields = {
  devicesPerPerson: optionalWhole(1, 100),
  reassignEveryDays: optionalWhole(0, 366),
}
const Fields = z.object({ seatPolicy: floatingFields.seatPolicy, ...namedFields })

/** What was filled in; null where the seats are of devices. */
export const namedOf = ({
  seatPolicy,
  devicesPerPerson,
  reassignEveryDays,
}: z.infer<typeof Fields>): NamedSeats | null =>
  seatPolicy === 'named'
    ? { devicesPerPerson: devicesPerPerson ?? usualDevices, reassignEveryDays: reassignEveryDays ?? 0 }
    : null

/** The first values of a form about this key type. */
export const namedValues = ({
  namedSeats,
}: Pick<KeyType, 'namedSeats'>): Record<keyof typeof namedFields, string> => ({
  devicesPerPerson: String(namedSeats?.devicesPerPerson ?? ''),
  reassignEveryDays: String(namedSeats?.reassignEveryDays || ''),
})

/** The fields of the form. */
export const namedInputs = (form: FilledForm): Html => html`<fieldset class="pair">
  <legend>Seats of people</legend>
  ${textField(form, {
    name: 'devicesPerPerson',
    label: 'Devices of a person',
    hint: 'How many devices a person may use at once. Leave empty for 2.',
    required: false,
    inputmode: 'numeric',
    maxlength: 3,
  })}
  ${textField(form, {
    name: 'reassignEveryDays',
    label: 'Days before a seat goes to another person',
    hint: 'Counted from when a person was given it. Your customers wait for that, you do not. Leave empty for none.',
    required: false,
    inputmode: 'numeric',
    maxlength: 3,
  })}
</fieldset>`
