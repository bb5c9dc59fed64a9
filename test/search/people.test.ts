/**
 * Guarantee: a search by a part of a name or an email address finds exactly the people of the own workspace who have it,
 * and nobody after the erasure. Equal parts have other hashes in another workspace.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eraseSubject } from '../../src/commands/customers/erasure.ts'
import { indexPeople } from '../../src/reactions/people-index.ts'
import { maxFound, search } from '../../src/search/search.ts'
import { maxCandidates } from '../../src/vault/people-index.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { origin, uniqueId } from '../harness/ledger.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'

type Made = { id: string; email: string; name: string }

let api: TestApi
let tenants: { tenant: TestTenant; people: Made[] }[]

/** Few syllables, so that many people share parts. */
const syllable = fc.constantFrom('an', 'Jo', 'sé', 'Mü', 'ler', 'ŁU', 'ka', ' ', 'o', '-', '王', '💻', 'ß')
const person = fc.record({
  name: fc.array(syllable, { minLength: 2, maxLength: 6 }).map((parts) => `A${parts.join('')}`),
  local: fc.array(fc.constantFrom('an', 'JO', 'se', 'ler', '.k', '+x'), { minLength: 1, maxLength: 4 }),
  domain: fc.constantFrom('example.com', 'müller.example', 'example.test'),
})

beforeAll(async () => {
  api = await openTestApi()
  const samples = fc.sample(person, { numRuns: 50, seed: 7 })
  tenants = await Promise.all(
    [0, 1].map(async (half) => {
      const tenant = await makeTenant(api.ledger)
      const people: Made[] = []
      for (const [at, { name, local, domain }] of samples.entries()) {
        if (at % 2 !== half) continue
        const email = `${local.join('')}${at}@${domain}`.replace(/^\./, 'k')
        people.push({ id: await makeCustomer(api.ask, tenant.token, { email, name }), email, name })
      }
      return { tenant, people }
    }),
  )
})
afterAll(() => api.close())

const found = (tenantId: string, text: string) => search(api.ledger.ports, tenantId, text)

/** Said apart from the code: what a reader of the list would compare. */
const plain = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
const has = ({ name, email }: Made, text: string) =>
  [name.trim().replaceAll(/ +/g, ' '), email].some((known) => plain(known).includes(plain(text)))

test('by any part exactly the people who have it are found, of the own workspace alone', async () => {
  const everyone = tenants.flatMap(({ people }) => people)
  const part = fc
    .tuple(fc.constantFrom(...everyone.flatMap(({ name, email }) => [name, email])), fc.nat(30), fc.nat(9))
    .map(([text, from, more]) => [...text].slice(from % 8, (from % 8) + 3 + more).join(''))
  const text = fc.oneof(
    part,
    part.map((some) => some.toUpperCase()),
    fc.string({ minLength: 3, maxLength: 5 }),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.nat(1), async (asked, which) => {
      const trimmed = asked.trim().replaceAll(/\s+/g, ' ')
      fc.pre([...trimmed].length >= 3)
      const { tenant, people } = tenants[which] ?? { tenant: undefined, people: [] }
      const { customers, more } = await found(tenant?.tenantId ?? '', asked)
      const expected = people.filter((one) => has(one, trimmed)).map(({ id }) => id)
      const ids = customers.map(({ customer }) => customer.customerId)
      expect(more).toBe(expected.length > maxFound)
      if (more) expect(expected).toEqual(expect.arrayContaining(ids))
      else expect(ids.toSorted()).toStrictEqual(expected.toSorted())
    }),
    { numRuns: 120, seed: 11 },
  )
})

test('a license, a sale and a customer are found by what their own row says', async () => {
  const { tenantId, token } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const email = 'grace@hopper.example'
  const held = await mint(api.ask, token, 'editor', { email, name: 'Grace Hopper' })
  const other = await mint(api.ask, token, 'editor', { email, name: 'Seaport' })
  const customer = await makeCustomer(api.ask, token, { email: 'it@navy.example', name: 'Café Office' })
  const linked = await mint(api.ask, token, 'editor', { customerId: customer })
  const licenses = async (text: string) =>
    (await found(tenantId, text)).licenses.map(({ license, by }) => `${license.licenseId} by ${by}`)
  expect((await licenses('hopper.ex')).toSorted()).toStrictEqual(
    [`${held.id} by e-mail`, `${other.id} by e-mail`].toSorted(),
  )
  // Both belong to the customer with the address, whose name is that of the first.
  expect(await licenses('grace HOP')).toStrictEqual([`${other.id} by name`, `${held.id} by name`])
  expect(await licenses('port')).toStrictEqual([`${other.id} by name`])
  expect(await licenses('cafe')).toStrictEqual([`${linked.id} by name`])
  expect(await licenses('na')).toStrictEqual([])
  const answer = await api.ask('POST', '/v1/licenses/search', { token, body: { text: 'port' } })
  expect(answer.body).toMatchObject({ items: [{ license: { id: other.id }, matched: [{ by: 'name' }] }] })
})

test('nobody is found after the erasure, and nothing of their entry is left', async () => {
  const { tenantId, token } = await makeTenant(api.ledger)
  const { db, ports } = api.ledger
  const customerId = await makeCustomer(api.ask, token, { email: 'gone@tomorrow.example', name: 'Gone Soon' })
  const [{ customer } = { customer: undefined }] = (await found(tenantId, 'gone s')).customers
  expect(customer?.customerId).toBe(customerId)
  await eraseSubject(ports, tenantId, customer?.subjectId ?? '', origin)
  for (const text of ['gone s', 'tomorrow', 'gone@tomorrow.example'])
    expect((await found(tenantId, text)).customers).toStrictEqual([])
  const left = 'select from vault.subject_keys where tenant_id = $1 and subject_id = $2'
  expect((await db.query(left, [tenantId, customer?.subjectId])).rowCount).toBe(0)
})

test('people from before the index are added, and those who get a name meanwhile keep it', async () => {
  const { tenantId, token } = await makeTenant(api.ledger)
  const { db, ports } = api.ledger
  const ids = [
    await makeCustomer(api.ask, token, { email: 'early@before.example', name: 'Early Bird' }),
    await makeCustomer(api.ask, token, { email: 'first@before.example', name: 'Primus' }),
  ]
  await db.query(
    `update vault.subject_keys set trigrams = '{}', fully_indexed = false where tenant_id = $1`,
    [tenantId],
  )
  expect((await found(tenantId, 'before')).customers).toStrictEqual([])
  await ports.subjects.sealPerson(tenantId, 'early@before.example', 'Late Riser')
  const filling = indexPeople(ports)
  do await filling.poll()
  while (filling.dueInMs?.() === 0)
  const after = async (text: string) =>
    (await found(tenantId, text)).customers.map(({ customer }) => customer.customerId).toSorted()
  expect(await after('before')).toStrictEqual(ids.toSorted())
  expect(await after('early b')).toStrictEqual(ids.slice(0, 1))
  expect((await ports.subjects.index.candidates(tenantId, 'late riser')).subjectIds).toHaveLength(1)
})

test('a text that too many people have is answered with the note that there are more', async () => {
  const { ports } = api.ledger
  const tenantId = uniqueId('crowd')
  for (let at = 0; at <= maxCandidates; at++)
    await ports.subjects.sealPerson(tenantId, `${at}@crowd.example`, null)
  const { subjectIds, tooMany } = await ports.subjects.index.candidates(tenantId, 'crowd.ex')
  expect([subjectIds.length, tooMany]).toStrictEqual([maxCandidates, true])
  expect((await found(tenantId, 'crowd.ex')).more).toBe(true)
  expect((await found(tenantId, '200@crowd')).more).toBe(false)
})

test('an entry holds hashes that no other workspace has for the same person', async () => {
  const { ports, db } = api.ledger
  const ids = [uniqueId('one'), uniqueId('two')]
  for (const id of ids) await ports.subjects.sealPerson(id, 'twin@nowhere.example', 'Xylophone Quartz')
  const { rows } = await db.query<{ trigrams: number[] }>(
    'select trigrams from vault.subject_keys where tenant_id = any($1)',
    [ids],
  )
  const [one = [], two = []] = rows.map(({ trigrams }) => trigrams)
  expect(one.length).toBeGreaterThan(20)
  expect(one.length).toBe(two.length)
  expect(one.filter((hash) => two.includes(hash))).toStrictEqual([])
})
