import {
  deactivateDevice,
  importLicenses,
  keepSeat,
  reinstateLicense,
  reseatDevice,
  revokeLicense,
  takeBackImport,
} from '../client/index.ts'
import { approved, expect, rehearsed } from '../program.ts'
import { activate, mint } from './samples.ts'

const { license, licenseKey } = await mint('grace@example.com')
const path = { id: license.id }
await activate(licenseKey, 'desk')
const desk = { product_id: 'editor', license_key: licenseKey, device_id: 'desk' }
expect('a seat is kept', (await keepSeat({ body: desk })).data, ({ kept }) => kept)
await deactivateDevice({ body: desk })
await rehearsed((query) => reseatDevice({ path, query, body: { deviceId: 'desk' } }))
await approved((headers) => reseatDevice({ path, headers, body: { deviceId: 'desk' } }))
await approved((headers) => revokeLicense({ path, headers, body: { reason: 'by mistake' } }))
await rehearsed((query) => reinstateLicense({ path, query }))
const reinstated = await approved((headers) =>
  reinstateLicense({ path, headers, body: { reason: 'a mistake' } }),
)
expect('a license is reinstated', reinstated, (answer) => answer.license.status === 'active')

const imported = await importLicenses({
  body: { productId: 'editor', licenses: [{ licenseKey: 'OLD-1234-5678-9012', email: 'mary@example.com' }] },
})
const result = expect('a license is imported', imported.data, (answer) => answer.imported === 1).results[0]
const { id = '' } = result ?? {}
await rehearsed((query) => takeBackImport({ path: { id }, query }))
await approved((headers) => takeBackImport({ path: { id }, headers, body: { reason: 'a trial run' } }))
