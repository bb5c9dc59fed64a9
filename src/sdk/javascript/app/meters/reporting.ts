import { isRecord } from '../../keyset.ts'
import type { Ports } from '../operations.ts'
import { timeIn, type Verified, verifiedIn } from './allowances.ts'
import { type Refused, refusedBy, sendTo, useOf } from './asking.ts'
import { type Entry, isSame, type Journal, leftOf, withBatch, withoutBatch } from './journal.ts'
import type { Keep } from './keep.ts'

/** A use that was made and that the server has not counted, for good: too little was left, or the license had ended. */
export type RefusedUse = { key: string; meter: string; amount: string; usedAt: number; reason: string }

export type Reported =
  | { ok: true; counted: number; refused: readonly RefusedUse[] }
  | { ok: false; problem: Refused; counted: number; refused: readonly RefusedUse[] }

type Batch = { number: number; entries: readonly Entry[]; returned: readonly Verified[] }

/**
 * Reports what is journaled, batch by batch, and gives back what ended or is not wanted any more. A batch is numbered before it is sent, sent
 * until it is answered, and deleted then.
 */
export async function report(ports: Ports, keep: Keep): Promise<Reported> {
  const refused: RefusedUse[] = []
  let counted = 0
  for (;;) {
    const facts = await ports.keeper.load()
    const now = ports.keeper.now()
    const batch = await keep.change((journal) => {
      const numbered = withBatch(
        withEndedReturned(journal, verifiedIn(journal, ports, facts), timeIn(journal, facts, now)),
      )
      return { journal: numbered, value: batchOf(numbered, verifiedIn(numbered, ports, facts)) }
    })
    const [holder] = [...batch.entries, ...batch.returned.map(({ held }) => held)].map((each) => each.holder)
    if (!holder) return { ok: true, counted, refused }
    const body = {
      batch: batch.number,
      uses: batch.entries.map(useOf),
      returned: batch.returned.map(({ claim }) => claim.id),
    }
    const answer = await sendTo(ports, 'uses', holder, body, (said) => isAnswerTo(said, batch))
    if ('problem' in answer) return { ok: false, problem: refusedBy(answer.problem), counted, refused }
    const of = refusedIn(answer.value, batch)
    refused.push(...of)
    counted += batch.entries.length - of.length
    const held = batch.returned.map((each) => each.held)
    await keep.change((journal) => ({ journal: withoutBatch(journal, batch.number, held), value: undefined }))
  }
}

/** What has ended is given back before the server frees it, as soon as its uses are reported. */
function withEndedReturned(journal: Journal, verified: readonly Verified[], time: number): Journal {
  const over = new Set(
    verified
      .filter(({ held, claim }) => !held.isReturned && (time > claim.endsAt || leftOf(held, claim) <= 0n))
      .map(({ held }) => held.token),
  )
  if (over.size === 0) return journal
  const allowances = journal.allowances.map((held) =>
    over.has(held.token) ? { ...held, isReturned: true } : held,
  )
  return { ...journal, allowances }
}

/** The batch that is to be sent, with the allowances of its holder under which nothing else is journaled. */
function batchOf({ batch, entries, sending }: Journal, verified: readonly Verified[]): Batch {
  const sent = entries.slice(0, sending)
  const later = new Set(entries.slice(sending).map(({ allowance }) => allowance))
  const ready = verified.filter(({ held, claim }) => held.isReturned && !later.has(claim.id))
  const holder = sent[0]?.holder ?? ready[0]?.held.holder
  const returned = ready.filter(({ held }) => holder && isSame(held.holder, holder)).slice(0, 20)
  // Without uses there is no batch to number.
  return { number: Math.max(1, batch), entries: sent, returned }
}

function isAnswerTo({ batch, uses }: Record<string, unknown>, { number, entries }: Batch): boolean {
  if (batch !== number || !Array.isArray(uses) || uses.length !== entries.length) return false
  return uses.every(
    (use: unknown, index) =>
      isRecord(use) && typeof use.allowed === 'boolean' && use.idempotency_key === entries[index]?.key,
  )
}

const refusedIn = ({ uses }: Record<string, unknown>, { entries }: Batch): RefusedUse[] =>
  (uses as Record<string, unknown>[]).flatMap(({ allowed, reason }, index) => {
    const entry = entries[index]
    if (allowed === true || !entry) return []
    const { key, meter, amount, usedAt } = entry
    return [{ key, meter, amount, usedAt, reason: typeof reason === 'string' ? reason : 'refused' }]
  })
