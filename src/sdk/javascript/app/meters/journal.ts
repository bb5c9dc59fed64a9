import { isField, isRecord, isSeconds } from '../../keyset.ts'
import { type Amount, amountFrom, amountText } from './amount.ts'

/** A use that the server has not answered yet. */
export type Entry = {
  key: string
  meter: string
  amount: string
  usedAt: number
  /** The license and the seat that it was used with. */
  holder: Holder
  /** The id of the allowance that it was spent under. */
  allowance?: string | undefined
}

export type Holder = { licenseKey: string; instanceId: string }

/** An amount that the server keeps for this device. */
export type HeldAllowance = {
  /** The lease that says it; it is verified again each time the journal is read. */
  token: string
  holder: Holder
  spent: string
  /** It is given back as soon as what was spent under it is reported; nothing is spent under it any more. */
  isReturned?: boolean | undefined
}

/** A request for an allowance whose answer has not come. */
export type Wanted = { key: string; meter: string; amount: string; seconds: number; holder: Holder }

/** What a device remembers of what it uses. */
export type Journal = {
  /** The number of the last batch. */
  batch: number
  /** In the order in which they were used. */
  entries: readonly Entry[]
  /** How many of the first entries are the batch of that number, until it is answered; 0 for none. */
  sending: number
  allowances: readonly HeldAllowance[]
  wanted: readonly Wanted[]
  /** The greatest time that was seen, in Unix seconds: a clock that is set back brings no allowance back. */
  seen: number
}

const newJournal: Journal = { batch: 0, entries: [], sending: 0, allowances: [], wanted: [], seen: 0 }

/** The text to store. */
export const textOf = (journal: Journal): string => JSON.stringify({ format: 1, ...journal })

/**
 * Reads what was stored.
 * @throws Error for what this version cannot read: to begin anew would lose uses that were not reported
 */
export function journalFrom(text: string | undefined): Journal {
  if (text === undefined) return newJournal
  const stored: unknown = JSON.parse(text)
  if (!isRecord(stored) || stored.format !== 1) throw new Error('the journal of uses is of another version')
  const { batch, sending, seen } = stored
  const entries = listOf(stored.entries, isEntry)
  const allowances = listOf(stored.allowances, isAllowance)
  const wanted = listOf(stored.wanted, isWanted)
  if (!isSeconds(batch) || !isSeconds(sending) || !isSeconds(seen)) throw damaged()
  return { batch, sending, seen, entries, allowances, wanted }
}

const damaged = () => new Error('the journal of uses is damaged')

function listOf<T>(value: unknown, is: (item: unknown) => item is T): T[] {
  if (!Array.isArray(value) || !value.every(is)) throw damaged()
  return value
}

const isHolder = (value: unknown): value is Holder =>
  isRecord(value) && isText(value.licenseKey) && isText(value.instanceId)
const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isAmount = (value: unknown): value is string => amountFrom(value) !== undefined
const isEntry = (value: unknown): value is Entry =>
  isRecord(value) &&
  isText(value.key) &&
  isText(value.meter) &&
  isAmount(value.amount) &&
  isSeconds(value.usedAt) &&
  isHolder(value.holder) &&
  (value.allowance === undefined || isField(value.allowance))
const isAllowance = (value: unknown): value is HeldAllowance =>
  isRecord(value) && isText(value.token) && isHolder(value.holder) && isAmount(value.spent)
const isWanted = (value: unknown): value is Wanted =>
  isRecord(value) &&
  isText(value.key) &&
  isText(value.meter) &&
  isAmount(value.amount) &&
  isSeconds(value.seconds) &&
  isHolder(value.holder)

export const isSame = (one: Holder, other: Holder): boolean =>
  one.licenseKey === other.licenseKey && one.instanceId === other.instanceId

/** An allowance as its signed claim says it. */
export type Claim = { id: string; meter: string; amount: Amount; endsAt: number; issuedAt: number }

/** What is left of an allowance. */
export const leftOf = ({ spent }: HeldAllowance, { amount }: Claim): Amount =>
  amount - (amountFrom(spent) ?? amount)

/** A journal with an entry at the end; with its allowance, of which it is spent. One with the same key is there already. */
export function withEntry(journal: Journal, entry: Entry, under?: HeldAllowance): Journal {
  if (journal.entries.some(({ key, meter }) => key === entry.key && meter === entry.meter)) return journal
  const amount = amountFrom(entry.amount) ?? 0n
  const allowances = under
    ? journal.allowances.map((each) =>
        each.token === under.token
          ? { ...each, spent: amountText((amountFrom(each.spent) ?? 0n) + amount) }
          : each,
      )
    : journal.allowances
  return { ...journal, entries: [...journal.entries, entry], allowances }
}

/** So many fit into a request and its answer. */
const mostInBatch = 100

/** Numbers the next batch, unless one waits for its answer: the first entries of one holder. */
export function withBatch(journal: Journal): Journal {
  const [first] = journal.entries
  if (journal.sending > 0 || !first) return journal
  const next = journal.entries.findIndex(({ holder }) => !isSame(holder, first.holder))
  const sending = Math.min(mostInBatch, next < 0 ? journal.entries.length : next)
  return { ...journal, batch: journal.batch + 1, sending }
}

/** Deletes what was answered: the batch, if it is still the one that is sent, and the allowances that were given back with it. */
export function withoutBatch(journal: Journal, batch: number, returned: readonly HeldAllowance[]): Journal {
  const isSent = journal.batch === batch && journal.sending > 0
  const tokens = new Set(returned.map(({ token }) => token))
  return {
    ...journal,
    ...(isSent && { entries: journal.entries.slice(journal.sending), sending: 0 }),
    allowances: journal.allowances.filter(({ token }) => !tokens.has(token)),
  }
}
