import {
  addCustomerNote,
  addPeople,
  changePersonRole,
  closeReseller,
  createCustomer,
  createReseller,
  dissolveOrganization,
  eraseCustomer,
  formOrganization,
  getReseller,
  invitePerson,
  linkLicense,
  linkLicensesByAddress,
  listCustomerNotes,
  listCustomers,
  listLicenses,
  listLicensesOfCustomer,
  listPeople,
  listResellers,
  listSalesOfCustomer,
  mergeCustomer,
  removeCustomerNote,
  removePerson,
  setPortal,
  unlinkLicense,
  unmergeCustomer,
  updateCustomer,
  updateReseller,
} from '../client/index.ts'
import { approved, expect, rehearsed } from '../program.ts'
import { mint } from './samples.ts'

const { license } = await mint('joan@example.com')
const created = await createCustomer({ body: { email: 'joan@example.com' } })
const { customer } = expect('a customer is created', created.data, () => true)
const path = { id: customer.id }
const updated = await updateCustomer({ path, body: { name: 'Joan', metadata: { crm: '77' } } })
expect('they have a name', updated.data, (answer) => answer.customer.name === 'Joan')

await linkLicense({ path, body: { licenseId: license.id } })
const linked = await listLicensesOfCustomer({ path, query: { order: 'oldest' } })
expect('a license is theirs', linked.data, ({ items }) => items[0]?.id === license.id)
const filtered = await listLicenses({ query: { customer: customer.id } })
expect('it is found by them', filtered.data, ({ items }) => items.length === 1)
const sales = await listSalesOfCustomer({ path, query: { order: 'oldest' } })
expect('nothing was sold to them', sales.data, ({ items }) => items.length === 0)
await rehearsed((query) => unlinkLicense({ path, query, body: { licenseId: license.id } }))
const unlinked = await unlinkLicense({ path, body: { licenseId: license.id } })
expect('it is theirs no more', unlinked.data, (answer) => answer.customer.licenseIds.length === 0)
await rehearsed((query) => linkLicensesByAddress({ query }))
const found = await linkLicensesByAddress()
expect('no license is left without its customer', found.data, ({ left }) => left === 0)
const other = await createCustomer({ body: { email: 'joan@example.net' } })
const twin = expect('another one is created', other.data, () => true).customer
const twinPath = { id: twin.id }
await rehearsed((query) => mergeCustomer({ path: twinPath, query, body: { into: customer.id } }))
const merged = await mergeCustomer({ path: twinPath, body: { into: customer.id } })
expect('they are merged', merged.data, (answer) => answer.customer.mergedInto === customer.id)
await rehearsed((query) => unmergeCustomer({ path: twinPath, query }))
const unmerged = await unmergeCustomer({ path: twinPath })
expect('the merge is undone', unmerged.data, (answer) => answer.customer.mergedInto === undefined)
const oldest = await listCustomers({ query: { order: 'oldest' } })
expect('customers are listed', oldest.data, ({ items }) => items.some(({ id }) => id === customer.id))
const sought = await listCustomers({ query: { email: 'joan@example.com', name: 'joa' } })
expect('they are found by their address and name', sought.data, ({ items }) => items[0]?.id === customer.id)
await rehearsed((query) => addCustomerNote({ path, query, body: { text: 'Pays by invoice.' } }))
const added = await addCustomerNote({ path, body: { text: 'Pays by invoice.' } })
const { note } = expect('a note is added', added.data, () => true)
const notes = await listCustomerNotes({ path, query: { order: 'oldest' } })
expect('it is listed', notes.data, ({ items }) => items[0]?.text === 'Pays by invoice.')
const ofNote = { ...path, noteId: note.id }
await rehearsed((query) => removeCustomerNote({ path: ofNote, query }))
const removed = await removeCustomerNote({ path: ofNote })
expect('it is removed', removed.data, (answer) => answer.removed)
await rehearsed((query) => formOrganization({ path: twinPath, query }))
const team = await formOrganization({ path: twinPath })
expect('it is an organization', team.data, ({ customer: one }) => one.organization?.administrators === 1)
const people = [{ email: 'annie@example.net', name: 'Annie' }]
await rehearsed((query) => addPeople({ path: twinPath, query, body: { people, invite: false } }))
const joined = await addPeople({ path: twinPath, body: { people, invite: false } })
const [annie] = expect('a person is added', joined.data, (answer) => answer.people.length === 1).people
const ofAnnie = { ...twinPath, personId: annie?.id ?? '' }
const listed = await listPeople({ path: twinPath, query: { order: 'oldest' } })
expect('they are listed', listed.data, ({ items }) =>
  items.some(({ email }) => email === 'annie@example.net'),
)
await rehearsed((query) => changePersonRole({ path: ofAnnie, query, body: { role: 'administrator' } }))
const promoted = await changePersonRole({ path: ofAnnie, body: { role: 'administrator' } })
expect('their role is changed', promoted.data, ({ person }) => person.role === 'administrator')
await setPortal({ body: { enabled: true } })
await rehearsed((query) => invitePerson({ path: ofAnnie, query, body: {} }))
const invited = await invitePerson({ path: ofAnnie, body: {} })
expect('they are invited', invited.data, ({ person }) => person.invitedAt !== null)
await rehearsed((query) => removePerson({ path: ofAnnie, query }))
const left = await removePerson({ path: ofAnnie })
expect('they are removed', left.data, (answer) => answer.removed)
await rehearsed((query) => dissolveOrganization({ path: twinPath, query }))
const alone = await dissolveOrganization({ path: twinPath })
expect('it is dissolved', alone.data, ({ customer: one }) => one.organization === undefined)
await rehearsed((query) => eraseCustomer({ path, query }))
await approved((headers) => eraseCustomer({ path, headers }))

const reselling = { name: 'Northwind', quotas: [] }
await rehearsed((query) => createReseller({ query, body: reselling }))
const opened = await createReseller({ body: reselling })
const { reseller } = expect('a reseller is created', opened.data, () => true)
const ofReseller = { id: reseller.id }
await rehearsed((query) => updateReseller({ path: ofReseller, query, body: { name: 'Sunrise' } }))
await updateReseller({ path: ofReseller, body: { name: 'Sunrise' } })
const renamed = await getReseller({ path: ofReseller })
expect('it has another name', renamed.data, (answer) => answer.reseller.name === 'Sunrise')
const resellers = await listResellers({ query: { order: 'oldest' } })
expect('it is listed', resellers.data, ({ items }) => items.length === 1)
await rehearsed((query) => closeReseller({ path: ofReseller, query }))
await approved((headers) => closeReseller({ path: ofReseller, headers }))
