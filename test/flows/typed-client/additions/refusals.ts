import {
  listRefusals,
  listRefusalsOfLicense,
  listRefusedCallsByDay,
  listUnknownKeys,
} from '../client/index.ts'
import { expect } from '../program.ts'
import { activate, mint } from './samples.ts'

const { license, licenseKey } = await mint('edith@example.com')
await activate(licenseKey, 'first')
const refused = await activate(licenseKey, 'second')
expect('a device is refused', refused, ({ reason }) => reason === 'seat_limit_reached')
await activate('ACME-UNKNO-WNKEY-OFNOB-ODY00', 'first').catch(() => undefined)

const product = 'editor'
const order = 'oldest'
const ofLicense = await listRefusalsOfLicense({ path: { id: license.id }, query: { order } })
expect('the license shows it', ofLicense.data, ({ items }) => items.length === 1)
const all = await listRefusals({ query: { product, call: 'activate', reason: 'seat_limit_reached', order } })
expect('it is listed', all.data, ({ items }) => items.length === 1)
const days = await listRefusedCallsByDay({ query: { product, order } })
expect('it is counted by day', days.data, ({ items }) => items.length > 0)
const unknown = await listUnknownKeys({ query: { product, order } })
expect('the unknown key is counted', unknown.data, ({ items }) => items.length === 1)
