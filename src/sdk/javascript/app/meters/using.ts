import type { Ports } from '../operations.ts'
import { randomId } from '../ports.ts'
import { claimOf, openOf, timeIn, totalLeft, verifiedIn } from './allowances.ts'
import { type Amount, amountFrom, amountText } from './amount.ts'
import { holderNow, type Refused, refusedBy, sendTo } from './asking.ts'
import {
  type Claim,
  type HeldAllowance,
  type Holder,
  isSame,
  type Journal,
  leftOf,
  type Wanted,
  withEntry,
} from './journal.ts'
import type { Keep } from './keep.ts'

/**
 * What a use is answered. Not allowed, nothing is counted; except that after a reason that is a failed call the server may have counted it:
 * use it again with the same `key`, which counts once.
 */
export type Used =
  | { allowed: true; key: string; remaining: string; by: 'allowance' | 'server' }
  | ({ allowed: false; key: string; remaining?: string | undefined } & Refused)

export type UseOptions = {
  /** Names the use, up to 200 characters; a use of the same name counts once. A random one when absent. */
  key?: string
}

/** @throws TypeError for what is no positive decimal number */
function requireAmount(text: string): Amount {
  const amount = amountFrom(text)
  if (amount === undefined || amount <= 0n)
    throw new TypeError(`${text} is no positive decimal number in a string`)
  return amount
}

/** Takes an amount from what the device may spend without a network, or else asks the server. */
export async function use(
  ports: Ports,
  keep: Keep,
  meter: string,
  text: string,
  options: UseOptions,
): Promise<Used> {
  const amount = requireAmount(text)
  const { key = randomId() } = options
  const holder = await holderNow(ports)
  if ('reason' in holder) return { allowed: false, key, ...holder }
  const local = await spend(ports, keep, { meter, amount, key, holder })
  if (local.spent) return { allowed: true, key, remaining: amountText(local.left), by: 'allowance' }
  const body = { meter, amount: amountText(amount), idempotency_key: key }
  const sent = await sendTo(ports, 'consume', holder, body, ({ allowed }) => typeof allowed === 'boolean')
  if ('problem' in sent) {
    const failed = refusedBy(sent.problem)
    if (local.had === undefined || failed.reason !== 'offline') return { allowed: false, key, ...failed }
    const message = 'what this device may spend without a network is spent, or has ended'
    return { allowed: false, key, remaining: amountText(local.left), reason: 'allowance_spent', message }
  }
  const answer = sent.value
  const remaining = typeof answer.remaining === 'string' ? answer.remaining : '0'
  if (answer.allowed === true) return { allowed: true, key, remaining, by: 'server' }
  const reason = typeof answer.reason === 'string' ? answer.reason : 'refused'
  return {
    allowed: false,
    key,
    remaining,
    reason,
    message: `the license server does not allow it: ${reason}`,
  }
}

type Local = { spent: boolean; left: Amount; had: true | undefined }

/** The use is journaled before it is allowed: what is killed meanwhile has counted it, and not allowed it. */
async function spend(
  ports: Ports,
  keep: Keep,
  { meter, amount, key, holder }: { meter: string; amount: Amount; key: string; holder: Holder },
): Promise<Local> {
  const facts = await ports.keeper.load()
  const now = ports.keeper.now()
  return keep.change((journal): { journal: typeof journal; value: Local } => {
    const time = timeIn(journal, facts, now)
    const verified = verifiedIn(journal, ports, facts)
    const open = openOf(verified, meter, holder, time)
    const left = totalLeft(open)
    const had = verified.some(({ claim }) => claim.meter === meter) || undefined
    const isKnown = journal.entries.some((entry) => entry.key === key && entry.meter === meter)
    if (isKnown) return { journal, value: { spent: true, left, had } }
    const under = open.find(({ held, claim }) => leftOf(held, claim) >= amount)
    if (!under) return { journal, value: { spent: false, left, had } }
    const entry = { key, meter, amount: amountText(amount), usedAt: time, holder, allowance: under.claim.id }
    return {
      journal: { ...withEntry(journal, entry, under.held), seen: time },
      value: { spent: true, left: left - amount, had },
    }
  })
}

/** Journals what was used already, whether or not there is enough: the server counts it, or refuses it, when it is reported. */
export async function record(
  ports: Ports,
  keep: Keep,
  meter: string,
  text: string,
  { key = randomId() }: UseOptions,
): Promise<{ recorded: true; key: string } | ({ recorded: false; key: string } & Refused)> {
  const amount = requireAmount(text)
  const holder = await holderNow(ports)
  if ('reason' in holder) return { recorded: false, key, ...holder }
  const { spent } = await spend(ports, keep, { meter, amount, key, holder })
  if (spent) return { recorded: true, key }
  const facts = await ports.keeper.load()
  const now = ports.keeper.now()
  await keep.change((journal) => {
    const seen = timeIn(journal, facts, now)
    const entry = { key, meter, amount: amountText(amount), usedAt: seen, holder }
    return { journal: { ...withEntry(journal, entry), seen }, value: undefined }
  })
  return { recorded: true, key }
}

const mostSeconds = 31 * 86_400

/** What asking for an allowance has led to. */
export type Reserved =
  | { granted: true; amount: string; endsAt: number }
  | ({ granted: false; remaining?: string | undefined } & Refused)

/**
 * Asks for an amount to spend without a network. A request whose answer was lost is sent again first, so that what the server keeps for it
 * is not lost to the device.
 */
export async function reserve(
  ports: Ports,
  keep: Keep,
  meter: string,
  text: string,
  seconds: number,
): Promise<Reserved> {
  const amount = amountText(requireAmount(text))
  if (!Number.isInteger(seconds) || seconds < 60 || seconds > mostSeconds)
    throw new TypeError(`an allowance lasts from 60 to ${mostSeconds} seconds, and not ${seconds}`)
  const holder = await holderNow(ports)
  if ('reason' in holder) return { granted: false, ...holder }
  const wanted = await keep.change((journal) => {
    const open = journal.wanted.find((each) => each.meter === meter && isSame(each.holder, holder))
    const next: Wanted = { key: randomId(), meter, amount, seconds, holder }
    return open
      ? { journal, value: open }
      : { journal: { ...journal, wanted: [...journal.wanted, next] }, value: next }
  })
  const { reserved, isSettled } = await ask(ports, keep, wanted)
  const isOther = wanted.amount !== amount || wanted.seconds !== seconds
  return isOther && isSettled ? reserve(ports, keep, meter, text, seconds) : reserved
}

/** @returns what became of a request, and whether it is answered, and so not sent again */
async function ask(
  ports: Ports,
  keep: Keep,
  wanted: Wanted,
): Promise<{ reserved: Reserved; isSettled: boolean }> {
  const { key, holder, ...what } = wanted
  const { license } = await ports.keeper.load()
  const device = ports.identity.device()
  const body = {
    ...{ ...what, idempotency_key: key, fence: license?.seat?.fence },
    ...{ machine_hash: device?.machineHash ?? undefined, device: device?.components, ...ports.build },
  }
  const sent = await sendTo(ports, 'allowance', holder, body, ({ granted }) => typeof granted === 'boolean')
  if ('problem' in sent) return { reserved: { granted: false, ...refusedBy(sent.problem) }, isSettled: false }
  const { granted, lease2, reason = 'refused', remaining } = sent.value
  const { keys } = await ports.keeper.load()
  const claim = granted === true ? claimOf(lease2, holder, ports.place, keys) : undefined
  if (granted === true && (!claim || typeof lease2 !== 'string')) {
    const message = 'the answer carries no valid signature'
    return { reserved: { granted: false, reason: 'not_genuine', message }, isSettled: false }
  }
  await keep.change((journal) => ({
    journal: settled(
      journal,
      key,
      claim && { token: String(lease2), holder, spent: '0' },
      claim,
      ports.keeper.now(),
    ),
    value: undefined,
  }))
  if (claim) {
    return {
      reserved: { granted: true, amount: amountText(claim.amount), endsAt: claim.endsAt },
      isSettled: true,
    }
  }
  const message = `the license server keeps nothing for this device: ${String(reason)}`
  const left = typeof remaining === 'string' ? remaining : undefined
  return { reserved: { granted: false, reason: String(reason), remaining: left, message }, isSettled: true }
}

/**
 * Notes the answer to a request, with what it grants; nothing when another process has noted it already, and perhaps spent it. A newer
 * statement of the server begins the observation of the clock anew, as in the client.
 */
function settled(
  journal: Journal,
  key: string,
  held: HeldAllowance | undefined,
  claim: Claim | undefined,
  now: number,
): Journal {
  if (!journal.wanted.some((each) => each.key === key)) return journal
  const wanted = journal.wanted.filter((each) => each.key !== key)
  if (!held || !claim) return { ...journal, wanted }
  return {
    ...journal,
    wanted,
    allowances: [...journal.allowances, held],
    seen: Math.max(now, claim.issuedAt),
  }
}
