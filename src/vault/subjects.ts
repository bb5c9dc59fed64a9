import { createHmac, hash, type KeyObject, randomBytes } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import type { Pool } from 'pg'
import { asciiEmail } from '../domain/values.ts'
import type { MasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'
import { newWrappedKey, unwrapKey } from './wrapped-key.ts'

type Field = 'email' | 'name'
type SealedPerson = { subjectId: string; email: string | null; name: string | null }
export type Person = { email: string | null; name: string | null }

/**
 * Personal data by subject. Each person of a tenant has a key of their own, and the log and the read models hold
 * only text sealed under it: destroying the key erases the person everywhere at once, backups of the log included.
 */
export type Subjects = {
  /** By which a person of a tenant is found again; undefined for somebody new, as whoever was erased is. */
  findSubject(tenantId: string, email: string): Promise<string | undefined>
  /** Seals what is known of a person under their key, which is made when they are new. */
  sealPerson(tenantId: string, email: string, name: string | null): Promise<SealedPerson & { email: string }>
  /** What was sealed, in the order given; nulls for a person who has been erased. */
  openPeople(tenantId: string, people: readonly (SealedPerson | null)[]): Promise<Person[]>
  /** Destroys a person's key, and with it the last thing that leads from their address to what was theirs. */
  destroy(tenantId: string, subjectId: string): Promise<void>
}

/** Who somebody is of whom nothing is known, or who was erased. */
export const unknownPerson: Person = { email: null, name: null }

export function createSubjects(db: Pool, master: MasterKey): Subjects {
  /** The same person has the same hash, but nobody can tell the e-mail address from it. */
  function emailIndexOf(tenantId: string, spelling: string): string {
    const digest = createHmac('sha256', master.indexing).update(JSON.stringify([tenantId, spelling]))
    return `sub_${digest.digest('hex').slice(0, 32)}`
  }
  /** By what a person is found: the first one is what they are kept by from now on. */
  const emailIndexesOf = (tenantId: string, email: string): string[] =>
    spellingsOf(email).map((spelling) => emailIndexOf(tenantId, spelling))

  type Subject = { subjectId: string; key: KeyObject }

  async function subjectFor(tenantId: string, email: string): Promise<Subject> {
    const fresh = `sub_${randomBytes(16).toString('hex')}`
    const { wrapped } = newWrappedKey(master.wrapping, [tenantId, fresh])
    const { rows } = await db.query<{ subject_id: string; wrapped: Buffer }>({
      name: 'vault-subject-key',
      text: `with found as materialized (
               select subject_id, wrapped from vault.subject_keys
               where tenant_id = $1 and email_index = any($3::text[])
               order by array_position($3::text[], email_index) limit 1
             ),
             made as (
               insert into vault.subject_keys (tenant_id, subject_id, email_index, wrapped)
               select $1, $2, ($3::text[])[1], $4 where not exists (select from found)
               on conflict do nothing returning subject_id, wrapped
             )
             select subject_id, wrapped from found
             union all
             select subject_id, wrapped from made`,
      values: [tenantId, fresh, emailIndexesOf(tenantId, email), wrapped],
    })
    const [row] = rows
    // Somebody else made the key after this statement began: it is there for the next one.
    if (!row) return subjectFor(tenantId, email)
    return {
      subjectId: row.subject_id,
      key: unwrapKey(master.wrapping, [tenantId, row.subject_id], row.wrapped),
    }
  }

  async function keysOf(tenantId: string, subjectIds: readonly string[]): Promise<Map<string, KeyObject>> {
    if (subjectIds.length === 0) return new Map()
    const { rows } = await db.query<{ subject_id: string; wrapped: Buffer }>({
      name: 'vault-subject-keys',
      text: 'select subject_id, wrapped from vault.subject_keys where tenant_id = $1 and subject_id = any($2)',
      values: [tenantId, subjectIds],
    })
    return new Map(
      rows.map((row) => [
        row.subject_id,
        unwrapKey(master.wrapping, [tenantId, row.subject_id], row.wrapped),
      ]),
    )
  }

  return {
    async findSubject(tenantId, email) {
      const { rows } = await db.query<{ subject_id: string }>({
        name: 'vault-find-subject',
        text: `select subject_id from vault.subject_keys where tenant_id = $1 and email_index = any($2::text[])
               order by array_position($2::text[], email_index) limit 1`,
        values: [tenantId, emailIndexesOf(tenantId, email)],
      })
      return rows[0]?.subject_id
    },
    async sealPerson(tenantId, email, name) {
      const { subjectId, key } = await subjectFor(tenantId, email)
      const sealed = (field: Field, text: string) =>
        `sealed.1.${fingerprint(key)}.${seal(key, [tenantId, subjectId, field], Buffer.from(text)).toString('base64url')}`
      return {
        subjectId,
        email: sealed('email', asciiEmail(email) ?? email),
        name: name === null ? null : sealed('name', name),
      }
    },
    async openPeople(tenantId, people) {
      const keys = await keysOf(tenantId, [...new Set(people.flatMap((person) => person?.subjectId ?? []))])
      return people.map((person) => {
        const key = person && keys.get(person.subjectId)
        if (!person || !key) return unknownPerson
        const opened = (field: Field, sealed: string | null) => {
          const [, , sealedUnder, bytes] = sealed?.split('.') ?? []
          // Erased since, and known again under another key: what was sealed before stays unreadable.
          if (bytes === undefined || sealedUnder !== fingerprint(key)) return null
          return open(key, [tenantId, person.subjectId, field], Buffer.from(bytes, 'base64url')).toString()
        }
        return { email: opened('email', person.email), name: opened('name', person.name) }
      })
    },
    async destroy(tenantId, subjectId) {
      await db.query('delete from vault.subject_keys where tenant_id = $1 and subject_id = $2', [
        tenantId,
        subjectId,
      ])
    },
  }
}

/**
 * In which spellings a person may be kept: with the ASCII form of their domain, and with the Unicode form as before
 * there was one rule. Nearly all domains have but one form.
 */
function spellingsOf(email: string): string[] {
  const written = (asciiEmail(email) ?? email).toLowerCase()
  const domain = written.slice(written.lastIndexOf('@') + 1)
  const unicode = domainToUnicode(domain)
  if (unicode === domain || unicode === '') return [written]
  return [...new Set([written, email.toLowerCase(), `${written.slice(0, -domain.length)}${unicode}`])]
}

/** Tells which of a subject's keys a text was sealed under, and nothing about the key. */
const fingerprint = (key: KeyObject): string => hash('sha256', key.export(), 'base64url').slice(0, 11)
