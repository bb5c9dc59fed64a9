import { randomBytes } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { timeOf } from '../signing/paseto.ts'
import { mostHeads, mostMinutes } from '../signing/relay-bounds.ts'
import { AnswerUnusable, readAnswer } from './answer.ts'
import type { RelayClock } from './clock.ts'
import { type ChainHead, emptyChain } from './entry.ts'
import type { RelayKey } from './key.ts'
import type { Database } from './store/database.ts'
import { type Enrollment, readValue, writeValue } from './store/state.ts'

/** The relay cannot ask this now. The message says what to do. */
export class RequestRefused extends Error {}

/** How long entries are kept for the administrator after the vendor knows of them. */
const keptSeconds = 30 * 86_400

const Pending = z.object({
  counter: z.int(),
  nonce: z.string(),
  length: z.int(),
  hash: z.string(),
  minute: z.int(),
  at: z.int(),
})

/**
 * Makes a request to the vendor: the first one, or one for a renewal, which says what happened since the last answer. It is
 * durable before it is returned, because the vendor has to see the ends of the chain of every request that it may have got.
 * @param seats how many to ask for; undefined for as many as before
 * @throws RequestRefused for fewer seats than are in use, and for a relay that gave its seats back; StoreFailed
 */
export function makeRequest(database: Database, key: RelayKey, clock: RelayClock, seats?: number): string {
  return database.transact((file) => {
    const enrollment = requireEnrollment(file)
    if (readValue(file, 'released'))
      throw new RequestRefused('The relay gave its seats back. Enroll it again: keyledger relay enroll.')
    const wanted = seats ?? enrollment.seats
    const inUse = z.int().parse(file.prepare('select count(*) as seats from seats').get()?.seats)
    if (wanted < inUse)
      throw new RequestRefused(`Seats in use: ${inUse}. Free some first, or ask for at least ${inUse}.`)
    const minute = Math.floor(clock.now() / 60_000) - 1
    const counter = nextCounter(file, clock)
    const nonce = randomBytes(18).toString('base64url')
    const head = readValue(file, 'head') ?? emptyChain
    const said = { ...reportIn(file, head, minute), iat: timeOf(clock.now() / 1000) }
    const { keyHash: license_key_hash, name } = enrollment
    const relay = relayIdIn(file)
    const claims = { nonce, counter, license_key_hash, name, seats: wanted, ...relay, ...said }
    const text = key.said('RELAY REQUEST', enrollment, claims)
    file
      .prepare(
        'insert into requests (counter, nonce, text, seats, at, minute, length, hash) values (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      // The time that is stored is never later than the present one.
      .run(
        counter,
        nonce,
        text,
        wanted,
        readValue(file, 'time')?.now ?? clock.now(),
        minute,
        head.length,
        head.hash,
      )
    writeValue(file, 'enrollment', { ...enrollment, seats: wanted })
    return text
  })
}

/** The newest request that the vendor has not answered yet. */
export const lastRequest = (file: DatabaseSync): string | undefined => {
  const row = file.prepare('select text from requests order by counter desc limit 1').get()
  return row && String(row.text)
}

/**
 * Gives all seats back, with a statement for the vendor. From then on the relay gives out none.
 * @throws RequestRefused while seats are in use; StoreFailed
 */
export function makeRelease(database: Database, key: RelayKey, clock: RelayClock): string {
  return database.transact((file) => {
    const enrollment = requireEnrollment(file)
    const relay = relayIdIn(file)
    if (!relay.relay_id)
      throw new RequestRefused('The relay has no seats: the vendor has not answered it yet.')
    const inUse = z.int().parse(file.prepare('select count(*) as seats from seats').get()?.seats)
    if (inUse > 0)
      throw new RequestRefused(`Seats in use: ${inUse}. End the apps that have them, or free them first.`)
    const head = readValue(file, 'head') ?? emptyChain
    const said = { ...reportIn(file, head, Number.MAX_SAFE_INTEGER), iat: timeOf(clock.now() / 1000) }
    writeValue(file, 'released', true)
    return key.said('RELAY RELEASE', enrollment, { ...relay, ...said })
  })
}

/**
 * Takes the vendor's answer: the relay goes by its certificate from now on, and what it reported is dropped. The same answer
 * again changes nothing. The vendor's time corrects the clock.
 * @throws AnswerUnusable for one to another relay, license or request; StoreFailed
 */
export function acceptAnswer(database: Database, key: RelayKey, clock: RelayClock, text: string): void {
  const { claims, product } = readAnswer(text)
  database.transact((file) => {
    const enrollment = requireEnrollment(file)
    const isOwn = claims.pk === key.pk && claims.license_key_hash === enrollment.keyHash
    if (!isOwn || product.tenantId !== enrollment.tenantId || product.productId !== enrollment.productId)
      throw new AnswerUnusable(
        'This answer is for another relay. Take the answer to the request of this one.',
      )
    const before = readValue(file, 'answer')
    if (before !== undefined && readAnswer(before).claims.nonce === claims.nonce) return
    const row = file
      .prepare('select counter, nonce, length, hash, minute, at from requests where nonce = ?')
      .get(claims.nonce)
    const { data: request } = Pending.safeParse(row)
    if (!request)
      throw new AnswerUnusable(
        'This answer is for an older request. Take the answer to the newest one, or make a new request: keyledger relay renew.',
      )
    writeValue(file, 'answer', text)
    writeValue(file, 'requestedAt', request.at)
    writeValue(file, 'reported', { length: request.length, hash: request.hash })
    writeValue(file, 'reportedMinute', request.minute)
    file.prepare('delete from requests where counter <= ?').run(request.counter)
    file.prepare('delete from minutes where minute <= ?').run(request.minute)
    const from = Date.parse(claims.iat)
    clock.correct({ from, until: from + Math.max(0, clock.now() - request.at) })
    const now = clock.now()
    file
      .prepare('delete from entries where number <= ? and at < ?')
      .run(request.length, Math.floor(now / 1000) - keptSeconds)
    writeValue(file, 'time', { now, highest: Math.floor(clock.highest()) })
  })
}

/** The ends of the chain that the vendor may know, the present one, and the minutes since the last answer. */
function reportIn(file: DatabaseSync, head: ChainHead, until: number) {
  const sent = file.prepare('select length, hash from requests order by counter').all()
  const reported = readValue(file, 'reported')
  const all = [...(reported ? [reported] : []), ...sent.map((row) => Head.parse(row)), head]
  const heads = all.filter(({ length }, index) => length !== all[index + 1]?.length)
  const minutes = file
    .prepare('select minute, peak, taken, denied from minutes where minute <= ? order by minute desc limit ?')
    .all(until, mostMinutes)
    .reverse()
    .map((row) => MinuteRow.parse(row))
  return {
    heads: heads.slice(-mostHeads),
    minutes: minutes.map(({ minute, peak, taken, denied }) => [minute, peak, taken, denied]),
  }
}

const Head = z.object({ length: z.int(), hash: z.string() })
const MinuteRow = z.object({ minute: z.int(), peak: z.int(), taken: z.int(), denied: z.int() })

function requireEnrollment(file: DatabaseSync): Enrollment {
  const enrollment = readValue(file, 'enrollment')
  if (!enrollment) throw new RequestRefused('No relay is enrolled here. Enroll it: keyledger relay enroll.')
  return enrollment
}

function relayIdIn(file: DatabaseSync): { relay_id?: string } {
  const answer = readValue(file, 'answer')
  return answer === undefined ? {} : { relay_id: readAnswer(answer).claims.relay_id }
}

/** Rises with each request, also after one that was lost with its file. */
function nextCounter(file: DatabaseSync, clock: RelayClock): number {
  const counter = Math.max((readValue(file, 'counter') ?? 0) + 1, Math.floor(clock.now() / 1000))
  writeValue(file, 'counter', counter)
  return counter
}
