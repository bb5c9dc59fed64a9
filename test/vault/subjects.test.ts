/**
 * Personal data is stored only under its subject's key, in events and tables alike. Deleting that key erases
 * the person from the log and the read models at once.
 */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrate } from '../../projections/database/migrate.ts'
import { readModelTables } from '../../projections/projectors.ts'
import { rebuild } from '../../projections/runner/rebuild.ts'
import { checkMasterKey, newMasterKey, parseMasterKey, WrongMasterKey } from '../../src/vault/master-key.ts'
import { createSubjects } from '../../src/vault/subjects.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { noProgress, uniqueId } from '../harness/ledger.ts'
import { makeProduct, mint } from '../http/samples.ts'

let api: TestApi
let tenant: TestTenant
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
})
afterAll(() => api.close())

describe('a master key', () => {
  test('other than the database’s is refused, and the right one is still accepted', async () => {
    const { db, masterKey } = api.ledger
    const other = parseMasterKey(newMasterKey())
    await expect(checkMasterKey(db, other)).rejects.toBeInstanceOf(WrongMasterKey)
    await expect(checkMasterKey(db, masterKey)).resolves.toBeUndefined()
    await expect(checkMasterKey(db, other)).rejects.toBeInstanceOf(WrongMasterKey)
    await expect(migrate(api.ledger.databaseUrl)).resolves.toStrictEqual([])
  })

  test('that is wrong decrypts no person', async () => {
    const person = await api.ledger.ports.subjects.sealPerson('acme', 'wrong@example.com', null)
    const stranger = createSubjects(api.ledger.db, parseMasterKey(newMasterKey()))
    await expect(stranger.openPeople('acme', [person])).rejects.toThrow()
  })
})

describe('a person', () => {
  test('is decrypted unchanged, in order, and only for their own tenant', async () => {
    const { subjects } = api.ledger.ports
    const ada = await subjects.sealPerson('acme', 'Ada@Example.com', 'Ada Ä 💻')
    const bob = await subjects.sealPerson('acme', 'bob@example.com', null)
    expect(await subjects.openPeople('acme', [bob, null, ada, bob])).toStrictEqual([
      { email: 'bob@example.com', name: null },
      { email: null, name: null },
      { email: 'Ada@Example.com', name: 'Ada Ä 💻' },
      { email: 'bob@example.com', name: null },
    ])
    expect(await subjects.openPeople('other', [ada])).toStrictEqual([{ email: null, name: null }])
    expect(await subjects.openPeople('acme', [])).toStrictEqual([])
  })

  test('is one subject when many people are sealed at once, new or known, in the order given', async () => {
    const { subjects } = api.ledger.ports
    const tenantId = uniqueId('many')
    const known = await subjects.sealPerson(tenantId, 'known@example.com', 'Known')
    const asked = [
      { email: 'new@example.com', name: 'New' },
      { email: 'Known@example.com', name: 'Known' },
      { email: 'NEW@example.com', name: null },
      { email: 'known@example.com', name: 'Renamed Person' },
    ]
    const sealed = await subjects.sealPeople(tenantId, asked)
    expect(await subjects.openPeople(tenantId, sealed)).toStrictEqual(asked)
    const ids = sealed.map(({ subjectId }) => subjectId)
    expect(ids).toStrictEqual([ids[0], known.subjectId, ids[0], known.subjectId])
    expect(await subjects.findSubject(tenantId, 'new@example.com')).toBe(ids[0])
    const { subjectIds } = await subjects.index.candidates(tenantId, 'renamed')
    expect(subjectIds).toStrictEqual([known.subjectId])
    expect(await subjects.sealPeople(tenantId, [])).toStrictEqual([])
  })

  test('who is sealed by several processes at once is one subject', async () => {
    const { subjects } = api.ledger.ports
    const tenantId = uniqueId('many')
    const people = Array.from({ length: 50 }, (_, number) => ({
      email: `person${number}@example.com`,
      name: null,
    }))
    const sealed = await Promise.all([
      subjects.sealPeople(tenantId, people),
      subjects.sealPeople(tenantId, people.toReversed()),
      subjects.sealPeople(tenantId, people),
    ])
    const ids = sealed.map((all) => all.map(({ subjectId }) => subjectId))
    expect(new Set(ids.flat()).size).toBe(50)
    expect(ids[1]?.toReversed()).toStrictEqual(ids[0])
  })

  test('is one subject however the address is written, and a different one in another tenant', async () => {
    const { subjects } = api.ledger.ports
    const ids = await Promise.all(
      [
        ['acme', 'eve@example.com'],
        ['acme', 'EVE@example.com'],
        ['other', 'eve@example.com'],
      ].map(
        async ([tenantId = '', email = '']) => (await subjects.sealPerson(tenantId, email, null)).subjectId,
      ),
    )
    expect(ids[0]).toBe(ids[1])
    expect(ids[0]).not.toBe(ids[2])
  })

  test('is one subject in every spelling of an internationalized domain, and returned in its ASCII form', async () => {
    const { subjects } = api.ledger.ports
    const tenantId = uniqueId('spelled')
    const spellings = ['eve@bücher.example', 'Eve@BU\u0308CHER.example', 'eve@xn--bcher-kva.example']
    const sealed = await Promise.all(spellings.map((email) => subjects.sealPerson(tenantId, email, null)))
    expect(new Set(sealed.map(({ subjectId }) => subjectId)).size).toBe(1)
    for (const email of spellings)
      expect(await subjects.findSubject(tenantId, email)).toBe(sealed[0]?.subjectId)
    expect(await subjects.openPeople(tenantId, sealed)).toStrictEqual([
      { email: 'eve@xn--bcher-kva.example', name: null },
      { email: 'Eve@xn--bcher-kva.example', name: null },
      { email: 'eve@xn--bcher-kva.example', name: null },
    ])
  })

  test('who is stored under the Unicode form of the domain stays the same subject', async () => {
    const { db, masterKey, ports } = api.ledger
    const tenantId = uniqueId('known')
    const { subjectId } = await ports.subjects.sealPerson(tenantId, 'eve@bücher.example', null)
    const before = createHmac('sha256', masterKey.indexing).update(
      JSON.stringify([tenantId, 'eve@bücher.example']),
    )
    await db.query('update vault.subject_keys set email_index = $2 where subject_id = $1', [
      subjectId,
      `sub_${before.digest('hex').slice(0, 32)}`,
    ])
    for (const email of ['eve@bücher.example', 'EVE@BÜCHER.example', 'eve@xn--bcher-kva.example']) {
      expect(await ports.subjects.findSubject(tenantId, email)).toBe(subjectId)
      expect((await ports.subjects.sealPerson(tenantId, email, null)).subjectId).toBe(subjectId)
    }
  })

  test('sealed many times at once has one key, which opens all values', async () => {
    const { subjects } = api.ledger.ports
    const tenantId = uniqueId('racing')
    const sealed = await Promise.all(
      Array.from({ length: 10 }, (_, n) => subjects.sealPerson(tenantId, 'zoe@example.com', `Zoe ${n}`)),
    )
    const opened = await subjects.openPeople(tenantId, sealed)
    expect(opened.map(({ name }) => name)).toStrictEqual(Array.from({ length: 10 }, (_, n) => `Zoe ${n}`))
  })

  test('cannot be swapped with another, nor their name with their address', async () => {
    const { subjects } = api.ledger.ports
    const ada = await subjects.sealPerson('acme', 'ada@example.com', 'Ada')
    const bob = await subjects.sealPerson('acme', 'bob@example.com', 'Bob')
    const swapped = await Promise.allSettled([subjects.openPeople('acme', [{ ...ada, email: bob.email }])])
    expect(JSON.stringify(swapped)).not.toContain('bob@example.com')
    await expect(subjects.openPeople('acme', [{ ...ada, email: ada.name }])).rejects.toThrow()
  })
})

describe("a license holder's address", () => {
  const email = `canary-${uniqueId('holder')}@example.com`
  const name = `Canary ${uniqueId('name')}`

  test('is readable in the response, and in no event, table or vault row', async () => {
    const { ledger, ask } = api
    const { id } = await mint(ask, tenant.token, 'editor', { email, name })
    const answer = await ask('GET', `/v1/licenses/${id}`, { token: tenant.token })
    expect(answer.body).toMatchObject({ license: { email } })

    const everywhere: string[] = []
    const { entries } = await ledger.ports.ledger.readPage(undefined, 10_000)
    everywhere.push(
      ...entries.map((entry) => JSON.stringify(entry.readable ? [entry.event, entry.metadata] : '')),
    )
    for (const table of [
      ...readModelTables,
      'vault.subject_keys',
      'vault.master_key_check',
      'usage.hourly',
    ]) {
      const { rows } = await ledger.db.query<{ row: string }>(
        `select to_json(t)::text as row from ${table} t`,
      )
      everywhere.push(...rows.map(({ row }) => row))
    }
    expect(everywhere.length).toBeGreaterThan(5)
    const hex = (text: string) => Buffer.from(text).toString('hex')
    const base64 = (text: string) => Buffer.from(text).toString('base64url').slice(0, -2)
    for (const secret of [email, name]) {
      for (const form of [secret, hex(secret), base64(secret)]) {
        expect(everywhere.filter((text) => text.includes(form))).toStrictEqual([])
      }
    }
  })

  test('is gone for good when its subject’s key is destroyed, and the license stays', async () => {
    const { ledger, ask } = api
    const { token, tenantId } = tenant
    const { id } = await mint(ask, token, 'editor', { email: 'erased@example.com', name: 'Erased' })
    const kept = await mint(ask, token, 'editor', { email: 'kept@example.com' })
    const { subjectId } = await ledger.ports.subjects.sealPerson(tenantId, 'erased@example.com', null)
    await ledger.ports.subjects.destroy(tenantId, subjectId)
    const read = async (license: string) => (await ask('GET', `/v1/licenses/${license}`, { token })).body
    expect(await read(id)).toMatchObject({ license: { id, email: null, status: 'active' } })
    expect(await read(kept.id)).toMatchObject({ license: { email: 'kept@example.com' } })
    const list = await ask('GET', '/v1/licenses', { token })
    expect(list.status).toBe(200)
    expect(list.text).not.toContain('erased@example.com')
    await rebuild(ledger.db, ledger.ports.ledger, noProgress)
    expect(await read(id)).toMatchObject({ license: { email: null } })
  })

  test('that returns after the person was erased gets a new subject, and the old one stays erased', async () => {
    const { subjects } = api.ledger.ports
    const first = await subjects.sealPerson('acme', 'back@example.com', 'First')
    await subjects.destroy('acme', first.subjectId)
    const second = await subjects.sealPerson('acme', 'back@example.com', 'Second')
    const opened = subjects.openPeople('acme', [second])
    expect(await opened).toStrictEqual([{ email: 'back@example.com', name: 'Second' }])
    expect(second.subjectId).not.toBe(first.subjectId)
    expect(await subjects.findSubject('acme', 'Back@example.com')).toBe(second.subjectId)
    expect(await subjects.openPeople('acme', [first, second])).toStrictEqual([
      { email: null, name: null },
      { email: 'back@example.com', name: 'Second' },
    ])
  })
})
