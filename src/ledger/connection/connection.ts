import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress, type StoreAddress } from './address.ts'
import { type ClockDifference, createClockDifference } from './clock-difference.ts'
import { findNode } from './discovery.ts'
import { classifyError, failureOf } from './errors.ts'
import { NodeClient } from './node-client.ts'
import { LedgerUnavailable, type UnavailableReason } from './unavailable.ts'

/** The connection to one node. */
export type Node = {
  client: NodeClient
  /** Aborts when another connection replaces this one; subscriptions then move to the new one. */
  replaced: AbortSignal
  /** Listeners for the end of the connection. */
  onEnd: Set<() => void>
  /** Records that the store has answered. */
  answered(): void
}

export type Connection = {
  /**
   * Makes a call, and repeats it on a new connection while the store is unreachable.
   * @param what the start of the error message
   * @param limitMs the time limit for all attempts together
   * @param call gets the remaining time in milliseconds; {@link classifyError} decides whether its error is
   *   retried
   * @throws LedgerUnavailable when the time is up; the call's own error when a retry would fail in the same way
   */
  call<T>(what: string, limitMs: number, call: (node: Node, leftMs: number) => Promise<T>): Promise<T>
  /** The current node. @throws LedgerUnavailable when no node is found in time */
  node(limitMs: number): Promise<Node>
  /**
   * Reports the error of a call on a node, so that a broken connection is replaced.
   * @returns the error to throw
   */
  reportFailure(what: string, node: Node | undefined, error: unknown): unknown
  /** Closes the connection and ends its calls. */
  close(): void
}

/** A connection is replaced when its calls fail and nothing was answered for this long. */
const silentMs = 2000
const maxPauseMs = 400
/** How long the calls on a replaced connection may continue. */
const drainMs = 10_000

/** Connects on the first call. @param url as `parseAddress` takes it */
export function createConnection(url: string): Connection {
  const address = parseAddress(url)
  const clocks = createClockDifference(url)
  let current: Promise<Replaceable> | undefined
  let held: Replaceable | undefined
  let isClosed = false

  /** Concurrent callers share the search for a node, and its client. */
  function node(limitMs: number): Promise<Replaceable> {
    if (isClosed) return Promise.reject(new LedgerUnavailable('the connection to the event store is closed'))
    current ??= connect(address).then(
      (found) => {
        held = found
        if (isClosed) found.end(0)
        return found
      },
      (error: unknown) => {
        current = undefined
        throw error
      },
    )
    return withLimit(limitMs, current)
  }

  function reportFailure(what: string, of: Node | undefined, error: unknown): unknown {
    const classified = classifyError(error)
    if (classified.kind === 'unavailable') {
      if (held && held === of && held.shouldReplace(classified.reason)) {
        current = undefined
        held.end(drainMs)
        held = undefined
      }
    } else of?.answered()
    return failureOf(what, error)
  }

  return {
    node,
    reportFailure: reportFailure,
    async call(what, limitMs, call) {
      const until = performance.now() + limitMs
      let reported: unknown
      for (let tries = 0; ; tries++) {
        let of: Node | undefined
        try {
          of = await node(until - performance.now())
          const answer = await call(of, Math.max(1, until - performance.now()))
          of.answered()
          return answer
        } catch (error) {
          const failure = reportFailure(what, of, error)
          if (isLate(failure)) clocks.refresh()
          // The time limit cuts off the last attempt, so the error before it says more.
          reported = reported !== undefined && isLate(failure) ? reported : failure
          const pauseMs = Math.min(maxPauseMs, 50 * 2 ** tries)
          const isOver = isClosed || performance.now() + pauseMs >= until
          if (isOver || !isTransient(failure)) throw await withClockDifference(clocks, reported)
          await sleep(pauseMs)
        }
      }
    },
    close() {
      isClosed = true
      held?.end(0)
    },
  }
}

/** Whether a retry may succeed. */
const isTransient = (failure: unknown): boolean =>
  failure instanceof LedgerUnavailable && !permanentReasons.has(failure.reason)

const isLate = (failure: unknown): boolean =>
  failure instanceof LedgerUnavailable && failure.reason === 'no_answer'

/** Adds the difference of the clocks to the error of a timeout, which it may explain. */
async function withClockDifference(clocks: ClockDifference, failure: unknown): Promise<unknown> {
  if (!(failure instanceof LedgerUnavailable) || failure.reason !== 'no_answer') return failure
  const words = await clocks.describe()
  return words === undefined
    ? failure
    : new LedgerUnavailable(failure.message, failure.cause, failure.reason, words)
}

const permanentReasons = new Set<UnavailableReason | undefined>([
  'certificate',
  'unauthenticated',
  'denied',
  'wrong_log',
])

type Replaceable = Node & {
  shouldReplace(reason: UnavailableReason): boolean
  end(afterMs: number): void
}

/** Time limit for finding a node of the cluster. */
const searchTimeoutMs = 2000

async function connect(address: StoreAddress): Promise<Replaceable> {
  const client = new NodeClient(address, address.target ?? (await findNode(address, searchTimeoutMs)))
  const replaced = new AbortController()
  const onEnd = new Set<() => void>()
  const end = () => {
    for (const listener of onEnd) listener()
    client.end()
  }
  let lastAnswer = performance.now()
  return {
    client,
    replaced: replaced.signal,
    onEnd: onEnd,
    answered: () => {
      lastAnswer = performance.now()
    },
    shouldReplace: (reason) =>
      reason === 'unreachable' || reason === 'not_ready' || performance.now() - lastAnswer >= silentMs,
    end(afterMs) {
      replaced.abort()
      if (afterMs > 0) setTimeout(end, afterMs).unref()
      else end()
    },
  }
}

/** @throws LedgerUnavailable when the work takes longer */
async function withLimit<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new LedgerUnavailable('no node of the event store responds in time', undefined, 'no_node')),
    Math.max(1, limitMs),
  )
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
