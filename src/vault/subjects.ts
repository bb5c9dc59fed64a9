import { hash, type KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { asciiEmail } from '../domain/values.ts'
import { emailIndexesOf } from './email-index.ts'
import { findOrMakeSubjects, type KnownPerson, type Subject } from './many-subjects.ts'
import type { MasterKey } from './master-key.ts'
import { createPeopleIndex, maxOfPerson, type PeopleIndex } from './people-index.ts'
import { newWrappedKey, open, seal, unwrapKey } from './seal.ts'

type Field = 'email' | 'name' | 'address' | 'license_key' | 'device_name' | 'reason' | 'note' | 'profile'
/** What a record holds of a person, sealed under their key. */
export type SealedPerson = { subjectId: string; email: string | null; name: string | null }
/** Where a person called from; null where that was not recorded. */
type SealedAddress = { subjectId: string | null; address: string | null }
/** A text, and the person under whose key it is sealed. */
type SealedText = { subjectId: string; text: string }
export type Person = { email: string | null; name: string | null }

/**
 * Personal data by subject. Each person of a tenant has a key. The log and the read models hold only text
 * sealed under it, so destroying the key erases the person everywhere at once, including backups of the log.
 */
export type Subjects = {
  /** Finds a person of a tenant; undefined for a new or erased person. */
  findSubject(tenantId: string, email: string): Promise<string | undefined>
  /** Seals a person's data under their key, which is created for a new person. */
  sealPerson(tenantId: string, email: string, name: string | null): Promise<SealedPerson & { email: string }>
  /**
   * Seals many people's data as {@link Subjects.sealPerson} does, in the order given, and creates the keys of all new
   * ones with one statement.
   */
  sealPeople(
    tenantId: string,
    people: readonly { email: string; name: string | null }[],
  ): Promise<(SealedPerson & { email: string })[]>
  /** Finds people by a part of what was sealed of them, and adds those who are not in the index yet. */
  index: PeopleIndex
  /** Decrypts people's data, in the order given; nulls for a person who was erased. */
  openPeople(tenantId: string, people: readonly (SealedPerson | null)[]): Promise<Person[]>
  /** The tenant's own subject, for what machines do. It is never erased. */
  tenantSubject(tenantId: string): Promise<string>
  /** Seals the network address of a person; null for a person who was erased. */
  sealAddress(tenantId: string, subjectId: string, address: string): Promise<string | null>
  /** Decrypts network addresses, in the order given; null for an absent one and for a person who was erased. */
  openAddresses(tenantId: string, sealed: readonly SealedAddress[]): Promise<(string | null)[]>
  /** Seals the key of a license for its holder; null for a person who was erased. */
  sealLicenseKey(tenantId: string, subjectId: string, licenseKey: string): Promise<string | null>
  /** Decrypts the key of a license; null for a person who was erased. */
  openLicenseKey(tenantId: string, subjectId: string, sealed: string): Promise<string | null>
  /** Seals the name that a person gave to a device; null for a person who was erased. */
  sealDeviceName(tenantId: string, subjectId: string, name: string): Promise<string | null>
  /** Decrypts names of devices, in the order given; null for an absent one and for a person who was erased. */
  openDeviceNames(tenantId: string, sealed: readonly (SealedText | null)[]): Promise<(string | null)[]>
  /** Seals what was written about a person, in the order given; null for an absent text and for a person who was erased. */
  sealReasons(
    tenantId: string,
    subjectId: string,
    reasons: readonly (string | undefined)[],
  ): Promise<(string | null)[]>
  /** Decrypts what was written about people, in the order given; null for an absent text and for a person who was erased. */
  openReasons(tenantId: string, sealed: readonly (SealedText | null)[]): Promise<(string | null)[]>
  /** Seals a note about a person; null for a person who was erased. */
  sealNote(tenantId: string, subjectId: string, text: string): Promise<string | null>
  /** Decrypts notes about people, in the order given; null for a person who was erased. */
  openNotes(tenantId: string, sealed: readonly SealedText[]): Promise<(string | null)[]>
  /** Seals how a directory describes a person; null for a person who was erased. */
  sealProfile(tenantId: string, subjectId: string, text: string): Promise<string | null>
  /** Decrypts how directories describe people, in the order given; null for an absent one and for a person who was erased. */
  openProfiles(tenantId: string, sealed: readonly (SealedText | null)[]): Promise<(string | null)[]>
  /**
   * Destroys a person's key, and with it everything by which they are found, their sessions in the portal, and the kept keys
   * of their licenses.
   */
  destroy(tenantId: string, subjectId: string): Promise<void>
}

/** The tenant's own subject. No hash of an address has this form. */
const subjectOfTenant = 'sub_tenant'

/** A person who is unknown or was erased. */
export const unknownPerson: Person = { email: null, name: null }

export function createSubjects(db: Pool, master: MasterKey): Subjects {
  const index = createPeopleIndex(db, master)

  async function subjectFor(tenantId: string, email: string, name: string | null): Promise<Subject> {
    const fresh = `sub_${randomBytes(16).toString('hex')}`
    const { wrapped } = newWrappedKey(master.wrapping, [tenantId, fresh])
    const { rows } = await db.query<{ subject_id: string; wrapped: Buffer }>({
      name: 'vault-subject-key',
      text: `with found as materialized (
               select subject_id, wrapped, trigrams from vault.subject_keys
               where tenant_id = $1 and email_index = any($3::text[])
               order by array_position($3::text[], email_index) limit 1
             ),
             made as (
               insert into vault.subject_keys (tenant_id, subject_id, email_index, wrapped, trigrams, fully_indexed)
               select $1, $2, ($3::text[])[1], $4, $5, true where not exists (select from found)
               on conflict do nothing returning subject_id, wrapped
             ),
             named as (
               update vault.subject_keys k set trigrams = array(select unnest(k.trigrams) union select unnest($5::int[]))
               from found f
               where k.tenant_id = $1 and k.subject_id = f.subject_id and not f.trigrams @> $5::int[]
                 and cardinality(k.trigrams) < ${maxOfPerson}
             )
             select subject_id, wrapped from found
             union all
             select subject_id, wrapped from made`,
      values: [
        tenantId,
        fresh,
        emailIndexesOf(master, tenantId, email),
        wrapped,
        index.trigramsOf(tenantId, { email, name }),
      ],
    })
    const [row] = rows
    // Another process made the key after this statement began; the next statement sees it.
    if (!row) return subjectFor(tenantId, email, name)
    return {
      subjectId: row.subject_id,
      key: unwrapKey(master.wrapping, [tenantId, row.subject_id], row.wrapped),
    }
  }

  const keysOf = (tenantId: string, subjectIds: readonly string[]) =>
    readKeys(db, master, tenantId, subjectIds)

  const sealFor = (field: Field) => sealingWith(db, master, field)

  return {
    index,
    async findSubject(tenantId, email) {
      const { rows } = await db.query<{ subject_id: string }>({
        name: 'vault-find-subject',
        text: `select subject_id from vault.subject_keys where tenant_id = $1 and email_index = any($2::text[])
               order by array_position($2::text[], email_index) limit 1`,
        values: [tenantId, emailIndexesOf(master, tenantId, email)],
      })
      return rows[0]?.subject_id
    },
    async sealPerson(tenantId, email, name) {
      return sealedPerson(tenantId, await subjectFor(tenantId, email, name), { email, name })
    },
    async sealPeople(tenantId, people) {
      const found = await findOrMakeSubjects({ db, master, index }, tenantId, people)
      const sealed = []
      for (const [at, person] of people.entries()) {
        const subject = found[at] ?? (await subjectFor(tenantId, person.email, person.name))
        sealed.push(sealedPerson(tenantId, subject, person))
      }
      return sealed
    },
    async openPeople(tenantId, people) {
      const keys = await keysOf(tenantId, [...new Set(people.flatMap((person) => person?.subjectId ?? []))])
      return people.map((person) => {
        const key = person && keys.get(person.subjectId)
        if (!person || !key) return unknownPerson
        const opened = (field: Field, sealed: string | null) =>
          openedText(key, [tenantId, person.subjectId, field], sealed)
        return { email: opened('email', person.email), name: opened('name', person.name) }
      })
    },
    tenantSubject: (tenantId) => makeTenantSubject(db, master, tenantId),
    sealAddress: sealFor('address'),
    openAddresses: (tenantId, sealed) => openTexts(db, master, tenantId, 'address', sealed.map(textIn)),
    sealLicenseKey: sealFor('license_key'),
    openLicenseKey: async (tenantId, subjectId, text) =>
      (await openTexts(db, master, tenantId, 'license_key', [{ subjectId, text }]))[0] ?? null,
    sealDeviceName: sealFor('device_name'),
    openDeviceNames: (tenantId, sealed) => openTexts(db, master, tenantId, 'device_name', sealed),
    sealReasons: async (tenantId, subjectId, reasons) =>
      sealedReasons(await keysOf(tenantId, [subjectId]), tenantId, subjectId, reasons),
    openReasons: (tenantId, sealed) => openTexts(db, master, tenantId, 'reason', sealed),
    sealNote: sealFor('note'),
    openNotes: (tenantId, sealed) => openTexts(db, master, tenantId, 'note', sealed),
    sealProfile: sealFor('profile'),
    openProfiles: (tenantId, sealed) => openTexts(db, master, tenantId, 'profile', sealed),
    destroy: (tenantId, subjectId) => destroyPerson(db, tenantId, subjectId),
  }
}

/** Seals a text of a person; null for a person who was erased. */
const sealingWith =
  (db: Pool, master: MasterKey, field: Field) =>
  async (tenantId: string, subjectId: string, text: string) => {
    const key = (await readKeys(db, master, tenantId, [subjectId])).get(subjectId)
    return key ? sealedText(key, [tenantId, subjectId, field], text) : null
  }

const textIn = ({ subjectId, address: text }: SealedAddress): SealedText | null =>
  subjectId === null || text === null ? null : { subjectId, text }

function sealedReasons(
  keys: ReadonlyMap<string, KeyObject>,
  tenantId: string,
  subjectId: string,
  reasons: readonly (string | undefined)[],
): (string | null)[] {
  const key = keys.get(subjectId)
  return reasons.map((reason) =>
    key && reason !== undefined ? sealedText(key, [tenantId, subjectId, 'reason'], reason) : null,
  )
}

async function openTexts(
  db: Pool,
  master: MasterKey,
  tenantId: string,
  field: Field,
  sealed: readonly (SealedText | null)[],
): Promise<(string | null)[]> {
  const keys = await readKeys(db, master, tenantId, [
    ...new Set(sealed.flatMap((one) => one?.subjectId ?? [])),
  ])
  return sealed.map((one) => {
    const key = one && keys.get(one.subjectId)
    return key ? openedText(key, [tenantId, one.subjectId, field], one.text) : null
  })
}

async function destroyPerson(db: Pool, tenantId: string, subjectId: string): Promise<void> {
  await db.query(
    `with kept as (delete from vault.kept_keys where tenant_id = $1 and subject_id = $2),
       links as (delete from vault.customer_links where tenant_id = $1 and subject_id = $2),
       sessions as (delete from vault.customer_sessions where tenant_id = $1 and subject_id = $2),
       identities as (delete from vault.customer_identities where tenant_id = $1 and subject_id = $2),
       viewings as (delete from vault.portal_viewings where tenant_id = $1 and subject_id = $2)
     delete from vault.subject_keys where tenant_id = $1 and subject_id = $2`,
    [tenantId, subjectId],
  )
}

function sealedPerson(tenantId: string, { subjectId, key }: Subject, { email, name }: KnownPerson) {
  const sealed = (field: Field, text: string) => sealedText(key, [tenantId, subjectId, field], text)
  return {
    subjectId,
    email: sealed('email', asciiEmail(email) ?? email),
    name: name === null ? null : sealed('name', name),
  }
}

export async function makeTenantSubject(db: Pool, master: MasterKey, tenantId: string): Promise<string> {
  const { wrapped } = newWrappedKey(master.wrapping, [tenantId, subjectOfTenant])
  await db.query({
    name: 'vault-tenant-subject',
    text: `insert into vault.subject_keys (tenant_id, subject_id, email_index, wrapped, fully_indexed)
           values ($1, $2, $2, $3, true) on conflict do nothing`,
    values: [tenantId, subjectOfTenant, wrapped],
  })
  return subjectOfTenant
}

/** The keys of people by their ids, without those of erased people. */
export async function readKeys(
  db: Pool,
  master: MasterKey,
  tenantId: string,
  subjectIds: readonly string[],
): Promise<Map<string, KeyObject>> {
  if (subjectIds.length === 0) return new Map()
  const { rows } = await db.query<{ subject_id: string; wrapped: Buffer }>({
    name: 'vault-subject-keys',
    text: 'select subject_id, wrapped from vault.subject_keys where tenant_id = $1 and subject_id = any($2)',
    values: [tenantId, subjectIds],
  })
  return new Map(
    rows.map((row) => [row.subject_id, unwrapKey(master.wrapping, [tenantId, row.subject_id], row.wrapped)]),
  )
}

/** @param place the tenant, the person and the field, which the text is bound to */
const sealedText = (key: KeyObject, place: [string, string, Field], text: string): string =>
  `sealed.1.${fingerprint(key)}.${seal(key, place, Buffer.from(text)).toString('base64url')}`

/** Null for text under another key: the person was erased and later stored again; older data stays unreadable. */
function openedText(key: KeyObject, place: [string, string, Field], sealed: string | null): string | null {
  const [, , sealedUnder, bytes] = sealed?.split('.') ?? []
  if (bytes === undefined || sealedUnder !== fingerprint(key)) return null
  return open(key, place, Buffer.from(bytes, 'base64url')).toString()
}

/** Identifies the subject's key that a text was sealed under, without revealing the key. */
const fingerprint = (key: KeyObject): string => hash('sha256', key.export(), 'base64url').slice(0, 11)
