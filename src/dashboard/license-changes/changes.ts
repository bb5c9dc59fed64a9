import { findSeat } from '../../../projections/licenses/seats.ts'
import { linkLicense } from '../../commands/customers/customers.ts'
import { remintLicense, removeDevice } from '../../commands/licenses/changes.ts'
import { editLicense, resumeLicense, suspendLicense } from '../../commands/licenses/edit.ts'
import { sendKey } from '../../commands/licenses/send-key.ts'
import { hasToBeUnlinked } from '../../domain/licenses/link.ts'
import { html } from '../../html.ts'
import { noCustomerWithId } from '../customers/choose.ts'
import { chosenCustomer, customerField, customerText } from '../forms/customer-field.ts'
import { checkField, textField } from '../forms/form-fields.ts'
import { checked, optionalOf, wantedLine } from '../forms/typed.ts'
import { moment } from '../frame/moments.ts'
import { day } from '../new-license/form.ts'
import { changeInput, type LicenseChange, licenseChange, withReason } from './change.ts'
import { editChange } from './edit.ts'
import { fileBack, newFile } from './files.ts'
import { certify, relayBack } from './relays.ts'
import { allowUse, watchUse } from './sharing.ts'

/** A form with nothing but the reason. */
const reasonOnly = { schema: withReason({}), values: () => ({}), fields: () => null }

const suspend = licenseChange({
  name: 'suspend',
  label: 'Suspend',
  title: 'Suspend license',
  button: 'Suspend license',
  lead: () =>
    'The license is not valid until it is resumed. Its devices keep their seats, and its expiry date does not move.',
  fits: ({ revokedAt, suspendedAt }) => revokedAt === null && suspendedAt === null,
  ...reasonOnly,
  async run(ports, about, typed, origin) {
    await suspendLicense(ports, changeInput(about, typed), origin)
    return undefined
  },
})

const resume = licenseChange({
  name: 'resume',
  label: 'Resume',
  title: 'Resume license',
  button: 'Resume license',
  lead: ({ license: { expiresAt } }) =>
    expiresAt === null
      ? 'The license is valid again immediately.'
      : html`The license is valid again until ${moment(expiresAt)}. Resuming does not change this date.`,
  fits: ({ revokedAt, suspendedAt }) => revokedAt === null && suspendedAt !== null,
  ...reasonOnly,
  async run(ports, about, typed, origin) {
    await resumeLicense(ports, changeInput(about, typed), origin)
    return undefined
  },
})

const extend = licenseChange({
  name: 'extend',
  label: 'Extend',
  title: 'Extend license',
  button: 'Extend license',
  lead: ({ license: { expiresAt } }) =>
    expiresAt !== null && html`It expires on ${moment(expiresAt)}. A renewal will not shorten this term.`,
  fits: ({ revokedAt, expiresAt }) => revokedAt === null && expiresAt !== null,
  schema: withReason({
    expiresOn: optionalOf(day, 'Enter a day as 2027-11-21.').refine(
      (text) => text !== undefined,
      'Enter a day as 2027-11-21.',
    ),
  }),
  values: () => ({}),
  fields: (form) =>
    textField(form, {
      name: 'expiresOn',
      label: 'Last day (UTC)',
      hint: 'For example 2027-11-21. The license is valid until the end of that day.',
      maxlength: 10,
    }),
  async run(ports, about, typed, origin) {
    const expiresAt = `${typed.expiresOn}T23:59:59.000Z`
    await editLicense(ports, changeInput(about, typed), { expiresAt }, origin)
    return undefined
  },
  problems: { expiry_in_the_past: ['expiresOn', 'Enter a day in the future.'] },
})

const newKey = licenseChange({
  name: 'new-key',
  label: ({ holder }) => ((holder?.email ?? null) === null ? 'New key' : 'Send a new key'),
  title: 'Replace license key',
  button: 'Replace key',
  lead: () => 'The current key stops working immediately. The new key is shown once, on the next page.',
  fits: ({ revokedAt }) => revokedAt === null,
  schema: withReason({ keepDevices: checked, sendKey: checked }),
  values: ({ person }) => ({ keepDevices: 'on', ...(person.email !== null && { sendKey: 'on' }) }),
  fields: (form) =>
    html`${checkField(form, {
      name: 'keepDevices',
      label: 'Devices keep their seats',
      hint: 'They still need the new key. Without this, all seats are freed.',
    })}
    ${checkField(form, {
      name: 'sendKey',
      label: 'Mail the key to the customer',
      hint: 'Needs an email address on the license. The key is also shown on the next page.',
    })}`,
  async run(ports, about, { keepDevices, sendKey, ...typed }, origin) {
    const wanted = { ...changeInput(about, typed), keepDevices, sendKey }
    const { licenseKey } = await remintLicense(ports, wanted, origin)
    return { licenseKey }
  },
  problems: {
    license_without_address: ['form', 'The license has no email address. Edit the license to set one.'],
    mails_off: ['form', 'The mails of this product are off. Turn them on, or do not mail the key.'],
  },
})

const sendTheKey = licenseChange({
  name: 'send-key',
  label: 'Send the key',
  title: 'Send license key',
  button: 'Send key',
  lead: ({ person }) =>
    html`The current key is mailed to ${person.email ?? 'the address of the license'} again. It is not shown here.`,
  fits: (_, { keyIsSendable }) => keyIsSendable,
  schema: withReason({}),
  values: () => ({}),
  fields: () => null,
  async run(ports, about, typed, origin) {
    await sendKey(ports, changeInput(about, typed), origin)
    return undefined
  },
  problems: {
    license_without_address: ['form', 'The license has no email address. Edit the license to set one.'],
    mails_off: ['form', 'The mails of this product are off. Turn them on first.'],
    no_mail_server: [
      'form',
      'This installation has no mail server, so the key would be shown in the mailbox. Ask its operator to set one up.',
    ],
    keys_not_kept: ['form', 'This product does not keep license keys. Send a new key instead.'],
    key_not_kept: ['form', 'The key of this license is not kept. Send a new key instead.'],
    key_mailed_recently: ['form', 'The key was mailed less than 5 minutes ago. Wait, then send it again.'],
  },
})

const linkCustomer = licenseChange({
  name: 'link-customer',
  label: 'Link customer',
  title: 'Link customer',
  button: 'Link customer',
  lead: () => "The license gets the customer's entitlement overrides.",
  fits: (license) => !hasToBeUnlinked(license),
  schema: withReason({
    customerId: customerText,
  }),
  values: (_, { customer = '' }) => ({ customerId: customer }),
  fields: (form) =>
    customerField(form, {
      label: 'Customer',
      hint: html`Name, email address or customer ID. <a href="/dashboard/new-customer">New customer</a>`,
    }),
  choose: chosenCustomer,
  async run(ports, about, { customerId, reason = null }, origin) {
    const { tenantId, licenseId } = about.license
    await linkLicense(ports, tenantId, customerId, licenseId, origin, reason)
    return undefined
  },
  problems: { customer_not_found: ['customerId', noCustomerWithId] },
})

/** Offered beside each seat. */
const freeSeat = licenseChange({
  name: 'free-seat',
  label: 'Free seat',
  title: 'Free a seat',
  button: 'Free seat',
  lead: () => 'The device is deactivated immediately, and another one can take its seat.',
  fits: () => false,
  schema: withReason({ device: wantedLine(256, 'Enter the ID of a device.') }),
  values: (_, { device = '' }) => ({ device }),
  fields: (form) =>
    textField(form, { name: 'device', label: 'Device ID', maxlength: 256, className: 'mono' }),
  async run(ports, about, { device: deviceId, ...typed }, origin) {
    const place = changeInput(about, typed)
    const before = await findSeat(ports.db, place.tenantId, place.licenseId, { deviceId })
    const { productId } = await removeDevice(ports, { ...place, device: { deviceId } }, origin)
    if (before?.seat?.status === 'active') ports.usage.count(place.tenantId, productId, 'deactivations')
    return undefined
  },
  problems: {
    device_not_found: ['device', 'This license has never had a device with this ID.'],
    seat_has_file: [
      'device',
      'This device has a license file and may go on without a network until it ends. Take the file back, or wait for its end.',
    ],
  },
})

/** In the order of the license's page. */
export const licenseChanges: readonly LicenseChange[] = [
  resume,
  allowUse,
  watchUse,
  suspend,
  extend,
  editChange,
  sendTheKey,
  newKey,
  newFile,
  fileBack,
  certify,
  relayBack,
  linkCustomer,
  freeSeat,
]
