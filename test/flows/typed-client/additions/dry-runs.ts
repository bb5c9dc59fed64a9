import {
  createCustomer,
  createKeyType,
  createProduct,
  createWebhookReplay,
  disableTestMode,
  enableTestMode,
  importLicenses,
  listDeliveries,
  listLicenses,
  logout,
  mintLicense,
  redeliver,
  remintLicense,
  removePortalLanguage,
  removePortalLogo,
  sendLicenseKey,
  setPortalLanguage,
  setPortalLogo,
  updateCustomer,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'

const productId = 'editor'
const path = { productId }
await rehearsed((query) => createProduct({ query, body: { name: 'Another' } }))
await rehearsed((query) => createKeyType({ path, query, body: { name: 'Yearly' } }))
await rehearsed((query) => enableTestMode({ path, query, body: {} }))
await rehearsed((query) => disableTestMode({ path, query }))
await rehearsed((query) => setPortalLogo({ query, body: { data: 'iVBORw0KGgo=' } }))
await rehearsed((query) => removePortalLogo({ query }))
const french = { path: { tag: 'fr' }, body: { name: 'Français', texts: { signOut: 'Se déconnecter' } } }
await rehearsed((query) => setPortalLanguage({ ...french, query }))
await setPortalLanguage(french)
await rehearsed((query) => removePortalLanguage({ path: { tag: 'fr' }, query }))
await rehearsed((query) => mintLicense({ query, body: { productId, email: 'ada@example.com' } }))
await rehearsed((query) =>
  importLicenses({ query, body: { productId, licenses: [{ licenseKey: 'OLD-2234-5678-9012' }] } }),
)
const created = await createCustomer({ body: { email: 'emmy@example.com' } })
const { customer } = expect('a customer is there', created.data, () => true)
await rehearsed((query) => createCustomer({ query, body: { email: 'new@example.com' } }))
await rehearsed((query) => updateCustomer({ path: { id: customer.id }, query, body: { name: 'Emmy' } }))
const licenses = await listLicenses({ query: { email: 'ada@example.com' } })
const { id = '' } =
  expect('a license is there', licenses.data, ({ items }) => items.length > 0).items[0] ?? {}
await rehearsed((query) => remintLicense({ path: { id }, query }))
await rehearsed((query) => sendLicenseKey({ path: { id }, query }))
const deliveries = await listDeliveries({ query: { limit: 1 } })
const [delivery] = expect('a delivery is there', deliveries.data, ({ items }) => items.length > 0).items
await rehearsed((query) => redeliver({ path: { id: delivery?.id ?? '' }, query }))
const from = '2020-01-01T00:00:00.000Z'
await rehearsed((query) =>
  createWebhookReplay({ query, body: { from, endpoint: delivery?.endpointId ?? '' } }),
)
await rehearsed((query) => logout({ query }))
