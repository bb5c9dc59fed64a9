/**
 * Guarantee: each published job is delivered to a handler, only once while it is not done, again after its handler
 * failed, and to no more handlers concurrently than requested. NATS may also be shared, be down, and lose jobs.
 */
import { setTimeout } from 'node:timers/promises'
import { connect, type NatsConnection } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DueAttempt } from '../../projections/deliveries/due.ts'
import { type DispatchFeed, type Handler, jobName } from '../../src/webhooks/feed.ts'
import { createLocalFeed } from '../../src/webhooks/local-feed.ts'
import { createNatsFeed, optionsOf } from '../../src/webhooks/nats-feed.ts'
import { uniqueId } from '../harness/ledger.ts'
import { natsFor } from '../harness/nats-server.ts'
import { createHost } from '../harness/process.ts'

const host = createHost()
let nats: NatsConnection
let stream: string
beforeAll(async () => {
  nats = await connect({
    ...optionsOf(await natsFor(host)),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 100,
  })
})
afterAll(() => nats.close())
beforeEach(() => {
  stream = uniqueId('keyledger')
})

const failures: unknown[] = []
const overNats = (more: { ackWaitMs?: number } = {}) =>
  createNatsFeed(() => nats, stream, {
    pauseMs: 50,
    onFailure: (error) => void failures.push(error),
    ...more,
  })
const kinds: [string, () => DispatchFeed][] = [
  ['in this process', () => createLocalFeed({ pauseMs: 50 })],
  ['through NATS', () => overNats()],
]

const job = (name: string, attempt = 1): DueAttempt => ({
  deliveryId: `whd_${name}`,
  attempt,
  channel: 'webhook',
  endpointId: 'first',
  tenantId: 'acme',
})
const jobs = (count: number) => Array.from({ length: count }, (_, index) => job(String(index)))

/** Consumers that are stopped after each test. */
const consuming: { stop: () => void; ended: Promise<void> }[] = []
afterEach(async () => {
  for (const { stop, ended } of consuming.splice(0)) {
    stop()
    await ended
  }
})
function consume(feed: DispatchFeed, handler: Handler, atOnce = 8): void {
  const stopping = new AbortController()
  const ended = feed.consume(handler, atOnce, stopping.signal)
  consuming.push({ stop: () => stopping.abort(), ended })
}

describe.each(kinds)('a feed %s', (_, create) => {
  test('delivers every job once, to consumers that start before or after the publish', async () => {
    const feed = create()
    const handled: string[] = []
    await feed.publish(jobs(20))
    consume(feed, async (one) => void handled.push(jobName(one)))
    await feed.publish([job('late')])
    await expect.poll(() => handled.length).toBe(21)
    await setTimeout(100)
    expect(handled.toSorted()).toStrictEqual([...jobs(20), job('late')].map(jobName).toSorted())
  })

  test('does not deliver a job twice when it is published again before it is done; its next attempt is another job', async () => {
    const feed = create()
    const handled: string[] = []
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    consume(feed, async (one) => {
      handled.push(jobName(one))
      await gate
    })
    for (let times = 0; times < 3; times++) await feed.publish([job('same')])
    await feed.publish([job('same', 2)])
    await expect.poll(() => handled.length).toBe(2)
    await setTimeout(100)
    open()
    expect(handled.toSorted()).toStrictEqual(['whd_same.1', 'whd_same.2'])
  })

  test('delivers a job again when its handler fails', async () => {
    const feed = create()
    let tries = 0
    consume(feed, async () => {
      tries++
      if (tries < 3) throw new Error('not now')
    })
    await feed.publish([job('stubborn')])
    await expect.poll(() => tries).toBe(3)
    await setTimeout(150)
    expect(tries).toBe(3)
  })

  test('delivers no more jobs concurrently than requested, and stops when those are done', async () => {
    const feed = create()
    let running = 0
    let most = 0
    let done = 0
    consume(
      feed,
      async () => {
        running++
        most = Math.max(most, running)
        await setTimeout(5)
        running--
        done++
      },
      4,
    )
    await feed.publish(jobs(40))
    await expect.poll(() => done).toBe(40)
    expect(most).toBeLessThanOrEqual(4)
    const [{ stop, ended } = { stop: () => undefined, ended: Promise.resolve() }] = consuming
    stop()
    await ended
    expect(running).toBe(0)
  })
})

describe('the NATS feed', () => {
  test('distributes jobs among consumers, each job to one', async () => {
    const handled: string[][] = [[], []]
    for (const own of handled) {
      consume(overNats(), async (one) => {
        own.push(jobName(one))
        await setTimeout(2)
      })
    }
    await overNats().publish(jobs(200))
    await expect.poll(() => handled.flat().length).toBe(200)
    expect(new Set(handled.flat()).size).toBe(200)
    for (const own of handled) expect(own).not.toStrictEqual([])
  })

  test('delivers jobs of a dead consumer again, but not jobs that take long', async () => {
    // As an earlier version created it, with a longer wait.
    await overNats().publish([])
    // Long enough for a busy machine to say in time that a job is under way.
    const ackWaitMs = 1500
    const feed = overNats({ ackWaitMs })
    const handled: string[] = []
    await feed.publish([job('taken')])
    // This consumer takes a job and never answers.
    const dead = await nats.jetstream().consumers.get(stream, stream)
    expect(await dead.next({ expires: 2000 })).not.toBeNull()
    for (const consumer of [feed, overNats({ ackWaitMs })]) {
      consume(consumer, async (one) => {
        handled.push(jobName(one))
        await setTimeout(2 * ackWaitMs)
      })
    }
    await feed.publish([job('long')])
    await expect.poll(() => handled.toSorted()).toStrictEqual(['whd_long.1', 'whd_taken.1'])
    await setTimeout(2 * ackWaitMs)
    expect(handled).toHaveLength(2)
  })

  test('recreates a lost stream for the next published job', async () => {
    const feed = overNats()
    const handled: string[] = []
    consume(feed, async (one) => void handled.push(jobName(one)))
    await feed.publish([job('before')])
    await expect.poll(() => handled).toStrictEqual(['whd_before.1'])
    await (await nats.jetstreamManager()).streams.delete(stream)
    // The publisher retries what could not be published.
    await expect
      .poll(async () => {
        await feed.publish([job('after')]).catch(() => undefined)
        return handled.includes('whd_after.1')
      })
      .toBe(true)
  })

  test('rejects a publish when NATS is not connected', async () => {
    const feed = createNatsFeed(() => undefined, stream, { onFailure: () => undefined })
    await expect(feed.publish([job('lost')])).rejects.toThrow('NATS is not connected')
  })
})
