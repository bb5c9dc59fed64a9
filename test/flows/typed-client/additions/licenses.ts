import {
  allowSharing,
  certifyRelay,
  compareLicense,
  createLicenseFile,
  explainLicense,
  getEvidence,
  getLicenseHistory,
  getPortal,
  getPortalLanguage,
  getProductMail,
  getWithdrawnFiles,
  getWorkspace,
  listLicenseFiles,
  listLicenses,
  listPortalLanguages,
  listRelays,
  listReleases,
  pollBrowserActivation,
  releaseLicenseFile,
  releaseRelay,
  remintLicense,
  removePortalLogo,
  reportPublishedKeys,
  resumeLicense,
  searchLicenses,
  sendLicenseKey,
  setPortal,
  setPortalLogo,
  setProductMail,
  setReleases,
  startBrowserActivation,
  suspendLicense,
  testProductMail,
  updateLicense,
  updateProduct,
  updateWorkspace,
  validateLicense,
} from '../client/index.ts'
import { expect, rehearsed } from '../program.ts'
import { activate, appOf, mint } from './samples.ts'

const email = 'ada@example.com'
const { license, licenseKey } = await mint(email, { order: 'A-1001' })
const path = { id: license.id }

await rehearsed((query) => updateLicense({ path, query, body: { deviceLimit: 3 } }))
const changed = await updateLicense({
  path,
  body: { name: 'Ada', deviceLimit: 3, metadata: { order: 'A-1002' }, reason: 'asked for by phone' },
})
expect('a license is changed', changed.data, (answer) => answer.license.deviceLimit === 3)

const onDevice = { product_id: 'editor', license_key: licenseKey, device_id: 'laptop' }
await activate(licenseKey, 'laptop')
await rehearsed((query) => suspendLicense({ path, query, body: { reason: 'unpaid' } }))
await suspendLicense({ path, body: { reason: 'unpaid' } })
const suspended = await validateLicense({ body: onDevice })
expect('it is suspended', suspended.data, ({ valid, reason }) => !valid && reason === 'suspended')
await rehearsed((query) => resumeLicense({ path, query }))
await resumeLicense({ path })
const resumed = await validateLicense({ body: onDevice })
expect('it is resumed', resumed.data, ({ valid }) => valid)

const published = { found: [licenseKey] }
await rehearsed((query) => reportPublishedKeys({ query, body: published }))
const reported = await reportPublishedKeys({ body: published })
expect('its key was found', reported.data, ({ licenseIds }) => licenseIds[0] === license.id)
const shared = await listLicenses({ query: { shared: 'true' } })
expect('it looks shared', shared.data, ({ items }) => items[0]?.id === license.id)
await rehearsed((query) => allowSharing({ path, query, body: { allowed: true } }))
const allowed = await allowSharing({ path, body: { allowed: true, reason: 'fine' } })
expect('its use is allowed', allowed.data, (answer) => answer.license.sharingAllowed === true)

const found = await searchLicenses({ body: { text: licenseKey } })
expect('its key finds it', found.data, ({ items }) => items[0]?.license.id === license.id)
const listed = await listLicenses({
  query: {
    product: 'editor',
    status: 'active',
    email,
    created_after: '2020-01-01T00:00:00.000Z',
    created_before: '2100-01-01T00:00:00.000Z',
    expires_before: '2100-01-01T00:00:00.000Z',
    source: 'api',
    test: 'false',
    metadata: { order: 'A-1002' },
    order: 'oldest',
  },
})
expect('every filter finds it', listed.data, ({ items }) => items.length === 1 && items[0]?.id === license.id)

const history = await getLicenseHistory({ path, query: { order: 'oldest' } })
expect('it has a history', history.data, ({ items }) => items.length > 3)
const explained = await explainLicense({ path, query: { device_id: 'laptop', asOf: '1' } })
expect('its past is explained', explained.data, ({ explanation }) => explanation !== null)
const compared = await compareLicense({ path, query: { from: '0', to: '1' } })
expect('two of its moments are compared', compared.data, ({ comparison }) => comparison.from.sequence === 0)
const files = await listLicenseFiles({ path })
expect('it has no license files', files.data, (answer) => answer.files.length === 0)
const fileOf = await createLicenseFile({ path, body: { request: 'no request' }, throwOnError: false })
expect('a text that is no request is refused', fileOf.error, ({ error }) => error.includes('request'))
const backOf = await releaseLicenseFile({ path, body: { release: 'no release' }, throwOnError: false })
expect('a text that is no release is refused', backOf.error, ({ error }) => error.includes('release'))
const relays = await listRelays({ path })
expect('it has no relays', relays.data, (answer) => answer.relays.length === 0)
const relayOf = await certifyRelay({ path, body: { request: 'no request' }, throwOnError: false })
expect('a text that is no request of a relay is refused', relayOf.error, ({ error }) =>
  error.includes('request'),
)
const relayBack = await releaseRelay({ path, body: { release: 'no release' }, throwOnError: false })
expect('a text that is no release of a relay is refused', relayBack.error, ({ error }) =>
  error.includes('release'),
)
const evidence = await getEvidence({ path, parseAs: 'blob' })
expect('its evidence is an archive', evidence.data as Blob | undefined, ({ size }) => size > 0)

await rehearsed((query) =>
  setProductMail({ path: { productId: 'editor' }, query, body: { subject: 'Your key' } }),
)
const mail = await setProductMail({ path: { productId: 'editor' }, body: { subject: 'Your key' } })
expect('the mail has a subject', mail.data, (answer) => answer.mail.subject === 'Your key')
const read = await getProductMail({ path: { productId: 'editor' } })
expect('it is read again', read.data, (answer) => answer.mail.subject === 'Your key')

const built = { version: '3.4.1', builtAt: '2026-11-21T09:30:00.000Z' }
const ofEditor = { productId: 'editor' }
await rehearsed((query) => setReleases({ path: ofEditor, query, body: { releases: [built] } }))
await setReleases({ path: ofEditor, body: { releases: [built] } })
const releases = await listReleases({ path: ofEditor })
expect('its releases are listed', releases.data, (answer) => answer.releases[0]?.channel === 'stable')

await updateProduct({ path: { productId: 'editor' }, body: { keyRecovery: true } })
await remintLicense({ path })
const sent = await sendLicenseKey({ path, body: { reason: 'the mail was lost' } })
expect('its key is mailed again', sent.data, (answer) => answer.license.id === license.id)
const { MEMBER_TOKEN: auth = '' } = process.env
const tested = await testProductMail({ path: { productId: 'editor' }, auth })
expect('its member gets a test mail', tested.data, ({ test }) => test.ok)

await rehearsed((query) => updateWorkspace({ query, body: { name: 'Acme Tools' } }))
const renamed = await updateWorkspace({ body: { name: 'Acme Tools' } })
expect('the workspace is renamed', renamed.data, ({ workspace }) => workspace.name === 'Acme Tools')
const workspace = await getWorkspace()
expect(
  'it keeps its id',
  workspace.data,
  (answer) => answer.workspace.tenantId === renamed.data?.workspace.tenantId,
)

const withdrawn = await getWithdrawnFiles({
  path: { tenantId: workspace.data?.workspace.tenantId ?? '', productId: 'editor' },
})
expect('the list of withdrawn files is signed', withdrawn.data, (answer) =>
  answer.withdrawn.includes('v4.public.'),
)

await rehearsed((query) => setPortal({ query, body: { enabled: true } }))
const portal = await setPortal({ body: { enabled: true, accentColor: '#0d5c4f' } })
expect('the portal is open', portal.data, (answer) => answer.portal.enabled)
const app = await appOf('editor')
const waiting = await startBrowserActivation({ ...app, body: { device_name: 'ada-laptop' } })
const { device_code } = expect('an app asks for a license', waiting.data, ({ interval }) => interval > 0)
const decided = await pollBrowserActivation({ ...app, body: { device_code } })
expect('nobody has chosen one yet', decided.data, ({ status }) => status === 'pending')
const branded = await setPortalLogo({ body: { data: 'iVBORw0KGgo=' } })
expect('it has a logo', branded.data, (answer) => answer.portal.logo?.type === 'image/png')
await removePortalLogo()
const { data: english } = await getPortalLanguage({ path: { tag: 'en' } })
expect('its texts can be translated', english, ({ language }) => language.texts.signOut === 'Sign out')
const { data: languages } = await listPortalLanguages()
expect('two languages are built in', languages, (answer) => answer.languages.length >= 2)
const open = await getPortal()
expect('it has none any more', open.data, (answer) => answer.portal.logo === null)
