import { z } from 'zod'
import { issueFile, releaseFile } from '../../commands/devices/files.ts'
import { type Html, html } from '../../html.ts'
import { qrCode } from '../../qr-code.ts'
import { maxStatementLength } from '../../signing/device-statements.ts'
import { textArea, textField } from '../forms/form-fields.ts'
import { optionalWhole } from '../forms/typed.ts'
import { moment } from '../frame/moments.ts'
import { copyableBlock, heading } from '../frame/parts.ts'
import { type CarriedFile, changeInput, licenseChange, withReason } from './change.ts'

/** A text that an app made on a device, which is pasted in lines. */
const carried = (missing: string) => z.string().trim().min(1, missing).max(maxStatementLength, missing)

/** Makes a license file from the request of a device. */
export const newFile = licenseChange({
  name: 'license-file',
  label: 'License file',
  title: 'License file for a device without a network',
  button: 'Make license file',
  lead: () =>
    'The device takes a seat, and keeps it until the file ends or the app on it returns the file. A file cannot be shortened.',
  fits: ({ revokedAt }, { allowsFiles }) => revokedAt === null && allowsFiles,
  schema: withReason({
    request: carried('Paste the request that the app made on the device.'),
    days: optionalWhole(1, 36_500),
  }),
  values: () => ({}),
  fields: (form) =>
    html`${textArea(form, {
      name: 'request',
      label: 'Request',
      hint: 'The text that the app made on the device, from BEGIN to END.',
      rows: 8,
    })}
    ${textField(form, {
      name: 'days',
      label: 'Days',
      hint: 'How long the file is good. Leave empty for as long as the key type allows.',
      required: false,
      inputmode: 'numeric',
      maxlength: 5,
    })}`,
  async run(ports, about, { request, days, ...typed }, origin) {
    const wanted = { ...changeInput(about, typed), request, days: days ?? undefined }
    const { text, token, seat, file } = await issueFile(ports, wanted, origin)
    return { licenseFile: { text, token, device: seat.name, endsAt: file.endsAt } }
  },
  problems: {
    file_too_long: ['days', 'The key type does not allow so many days.'],
    file_request_unreadable: [
      'request',
      'This is no request for this product. Paste the whole text, from BEGIN to END.',
    ],
    file_request_of_another_license: ['request', 'The request was made for another license key.'],
    file_request_outdated: [
      'request',
      'A newer request of the device was answered. Make a new one on the device.',
    ],
    file_limit_reached: ['form', 'The license has had as many files within a year as its key type allows.'],
    seat_limit_reached: ['form', 'All seats are in use. Free one first.'],
  },
})

/** Takes a license file back with the release that the device made. */
export const fileBack = licenseChange({
  name: 'release-file',
  label: 'Take file back',
  title: 'Take a license file back',
  button: 'Free seat',
  lead: () =>
    'The app makes a release on the device, and stops using its file. The seat is free immediately.',
  fits: (_, { allowsFiles }) => allowsFiles,
  schema: withReason({ release: carried('Paste the release that the app made on the device.') }),
  values: () => ({}),
  fields: (form) =>
    textArea(form, {
      name: 'release',
      label: 'Release',
      hint: 'The text that the app made on the device, from BEGIN to END.',
      rows: 8,
    }),
  async run(ports, about, { release, ...typed }, origin) {
    await releaseFile(ports, { ...changeInput(about, typed), release }, origin)
    return undefined
  },
  problems: {
    file_release_unreadable: [
      'release',
      'This is no release for this product. Paste the whole text, from BEGIN to END.',
    ],
    device_not_found: ['release', 'The device has no seat on this license.'],
    file_not_found: ['release', 'No file of this license was made for this device.'],
    file_release_outdated: [
      'release',
      'A newer file was made for the device. Import it there, and release that one.',
    ],
  },
})

/** A license file that was made, to copy, to keep as a file or to scan. */
export function fileView(path: string, { text, token, device, endsAt }: CarriedFile): Html {
  return html`<div class="narrow">
    ${heading('License file', html`For ${device}, good until ${moment(endsAt)}. Only that device accepts it.`)}
    <div class="sheet stack">
      <div class="file-text">${copyableBlock('license file', text)}</div>
      ${qrCode(token, 'The license file as a QR code', 'qr dense')}
      <div class="decide">
        <a class="button" download="keyledger-license.txt" href=${`data:text/plain,${encodeURIComponent(text)}`}>Save as a file</a>
        <a class="button second" href=${path}>View license</a>
      </div>
    </div>
  </div>`
}
