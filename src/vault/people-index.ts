import type { Pool } from 'pg'
import { rowsWithin } from '../../projections/database/transaction.ts'
import type { MasterKey } from './master-key.ts'
import { hashesOf, normalized, trigramKey, trigramsIn, trigramsOfPerson } from './people-parts.ts'

/** The people whose index entry has all trigrams of a text. */
type Candidates = {
  subjectIds: string[]
  /** There are more than are listed, or too many to list any in time. */
  tooMany: boolean
}

type Known = { email: string | null; name: string | null }

/**
 * Finds people by a part of their address or name. A person's entry holds keyed hashes of their trigrams, in the row
 * of their key. It only narrows the search: each candidate must be decrypted and compared.
 */
export type PeopleIndex = {
  /** Finds at most {@link maxCandidates} people of a tenant; nobody for a text that is too short. */
  candidates(tenantId: string, text: string): Promise<Candidates>
  /** The hashes by which a person is found. */
  trigramsOf(tenantId: string, person: Known): number[]
  /** People of one tenant whose entry lacks what was sealed before the index existed; empty when there are none. */
  listMissing(most: number): Promise<{ tenantId: string; subjectId: string }[]>
  /** Adds all that is known of people to their entries, which are then complete. */
  complete(tenantId: string, people: ReadonlyMap<string, readonly Known[]>): Promise<void>
}

/** An entry with this many trigrams takes no further names: one person does not have hundreds of names. */
export const maxOfPerson = 4000

/** People who are decrypted for one search. */
export const maxCandidates = 200

/** Then the search ends without a result: nearly everybody has these trigrams. */
const timeLimitMs = 1000

/** A longer text is searched by its beginning; the comparison uses all of it. */
const maxTrigrams = 60

export function createPeopleIndex(db: Pool, master: MasterKey): PeopleIndex {
  const hashes = (tenantId: string, trigrams: readonly string[]) =>
    hashesOf(trigramKey(master, tenantId), trigrams)
  const trigramsOf = (tenantId: string, person: Known) => hashes(tenantId, trigramsOfPerson(person))

  return {
    trigramsOf,
    async candidates(tenantId, text) {
      const wanted = trigramsIn([normalized(text)]).slice(0, maxTrigrams)
      if (wanted.length === 0) return { subjectIds: [], tooMany: false }
      const rows = await rowsWithin<{ id: string }>(
        db,
        timeLimitMs,
        `select subject_id as id from vault.subject_keys
         where tenant_id = $1 and trigrams @> $2::int[] limit $3`,
        [tenantId, hashes(tenantId, wanted), maxCandidates + 1],
      )
      const found = rows?.map(({ id }) => id) ?? []
      return {
        subjectIds: found.slice(0, maxCandidates),
        tooMany: rows === undefined || found.length > maxCandidates,
      }
    },
    async listMissing(most) {
      const { rows } = await db.query<{ tenantId: string; subjectId: string }>(
        `select tenant_id as "tenantId", subject_id as "subjectId" from vault.subject_keys
         where not fully_indexed
           and tenant_id = (select tenant_id from vault.subject_keys where not fully_indexed order by tenant_id limit 1)
         order by subject_id limit $1`,
        [most],
      )
      return rows
    },
    async complete(tenantId, people) {
      const rows = [...people].map(([subject_id, known]) => ({
        subject_id,
        trigrams: [...new Set(known.flatMap((person) => trigramsOf(tenantId, person)))],
      }))
      // What is sealed meanwhile is added to the row by itself, so it is only widened here too.
      await db.query(
        `update vault.subject_keys k
         set trigrams = array(select unnest(k.trigrams) union select unnest(q.trigrams)), fully_indexed = true
         from json_to_recordset($2) as q (subject_id text, trigrams int[])
         where k.tenant_id = $1 and k.subject_id = q.subject_id`,
        [tenantId, JSON.stringify(rows)],
      )
    },
  }
}
