import { type KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { emailIndexesOf } from './email-index.ts'
import type { MasterKey } from './master-key.ts'
import type { PeopleIndex } from './people-index.ts'
import { newWrappedKey, unwrapKey } from './seal.ts'

/** A person as a caller knows them. */
export type KnownPerson = { email: string; name: string | null }
/** A person's id and key. */
export type Subject = { subjectId: string; key: KeyObject }

type Indexed = Subject & { trigrams: ReadonlySet<number> }
type NewRow = Subject & { wrapped: Buffer; trigrams: readonly number[] }
type Wanted = { person: KnownPerson; spellings: string[]; trigrams: number[] }
type Vault = { db: Pool; master: MasterKey; index: Pick<PeopleIndex, 'trigramsOf'> }

/**
 * The keys of many people: one statement finds those who are stored, and another one stores the new ones.
 * @returns for each person, in the given order, the id and key; undefined for a person whose name is not indexed yet, or
 *   whom another process stores at this moment
 */
export async function findOrMakeSubjects(
  { db, master, index }: Vault,
  tenantId: string,
  people: readonly KnownPerson[],
): Promise<(Subject | undefined)[]> {
  if (people.length === 0) return []
  const wanted = people.map((person): Wanted => {
    const spellings = emailIndexesOf(master, tenantId, person.email)
    return { person, spellings, trigrams: index.trigramsOf(tenantId, person) }
  })
  const known = await findStored({ db, master }, tenantId, wanted)
  const rows = newRows(master, tenantId, wanted, new Set(known.keys()))
  for (const first of await insert(db, tenantId, rows)) {
    const row = rows.get(first)
    if (row) known.set(first, { ...row, trigrams: new Set(row.trigrams) })
  }
  return wanted.map(({ spellings, trigrams }) => {
    const found = spellings.flatMap((spelling) => known.get(spelling) ?? [])[0]
    return found && trigrams.every((hash) => found.trigrams.has(hash)) ? found : undefined
  })
}

/** The people who are stored under any spelling of these addresses, by spelling. */
async function findStored(
  { db, master }: Pick<Vault, 'db' | 'master'>,
  tenantId: string,
  wanted: readonly Wanted[],
): Promise<Map<string, Indexed>> {
  const { rows } = await db.query<{
    email_index: string
    subject_id: string
    wrapped: Buffer
    trigrams: number[]
  }>({
    name: 'vault-find-people',
    text: `select email_index, subject_id, wrapped, trigrams from vault.subject_keys
           where tenant_id = $1 and email_index = any($2::text[])`,
    values: [tenantId, wanted.flatMap(({ spellings }) => spellings)],
  })
  return new Map(
    rows.map(({ email_index, subject_id: subjectId, wrapped, trigrams }) => {
      const key = unwrapKey(master.wrapping, [tenantId, subjectId], wrapped)
      return [email_index, { subjectId, key, trigrams: new Set(trigrams) }]
    }),
  )
}

/** Keys for the people of whom no spelling is claimed yet, by their first spelling. */
function newRows(
  master: MasterKey,
  tenantId: string,
  wanted: readonly Wanted[],
  claimed: Set<string>,
): Map<string, NewRow> {
  const rows = new Map<string, NewRow>()
  for (const { spellings, trigrams } of wanted) {
    const [first = ''] = spellings
    if (spellings.some((spelling) => claimed.has(spelling))) continue
    for (const spelling of spellings) claimed.add(spelling)
    const subjectId = `sub_${randomBytes(16).toString('hex')}`
    rows.set(first, { subjectId, ...newWrappedKey(master.wrapping, [tenantId, subjectId]), trigrams })
  }
  return rows
}

/**
 * Stores new people in the order of their index values, so that two processes with the same people wait for each other
 * in one direction only.
 * @returns the index values of those that were not there
 */
async function insert(db: Pool, tenantId: string, people: ReadonlyMap<string, NewRow>): Promise<string[]> {
  if (people.size === 0) return []
  const rows = [...people]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([email_index, { subjectId: subject_id, wrapped, trigrams }]) => {
      return { email_index, subject_id, wrapped: wrapped.toString('base64'), trigrams }
    })
  const { rows: made } = await db.query<{ email_index: string }>({
    name: 'vault-make-subjects',
    text: `insert into vault.subject_keys (tenant_id, subject_id, email_index, wrapped, trigrams, fully_indexed)
           select $1, q.subject_id, q.email_index, decode(q.wrapped, 'base64'), q.trigrams, true
           from json_to_recordset($2) as q (email_index text, subject_id text, wrapped text, trigrams int[])
           on conflict do nothing returning email_index`,
    values: [tenantId, JSON.stringify(rows)],
  })
  return made.map(({ email_index }) => email_index)
}
