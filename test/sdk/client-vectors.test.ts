/**
 * Guarantee: what an app makes of what reaches it is what the published vectors say: the state after each step of each story, the
 * hashes of a machine, the errors that answers stand for, and what the device signs.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Look, type Notice, noticesOf } from '../../src/sdk/javascript/app/notices.ts'
import { armored } from '../../src/sdk/javascript/app/offline/armor.ts'
import { readWithdrawn } from '../../src/sdk/javascript/app/offline/withdrawn.ts'
import { problemOf } from '../../src/sdk/javascript/app/problem.ts'
import { identityOf } from '../../src/sdk/javascript/node/identify-device.ts'
import { isShared } from '../../src/sdk/javascript/node/index.ts'
import { isSigned, parseToken, signOwn } from '../../src/sdk/javascript/paseto.ts'
import { retryAfterMs } from '../../src/sdk/javascript/retry-after.ts'
import { play, type Story } from './vectors/story.ts'

const directory = join(import.meta.dirname, '../../docs/reference/vectors')
const read = (name: string): unknown => JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'))
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

type Expected = { steps: { as?: string; state: object }[] }
const Stories = z.object({ cases: z.array(z.custom<Story & Expected>()) })
describe.each(['leases', 'trials', 'files', 'machines'])('states of %s', (name) => {
  const { cases } = Stories.parse(read(`states-${name}`))
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, story) => {
    const { steps }: Expected = story
    const expected = steps.map(({ as, state }) => ({ as, state }))
    expect(play(story)).toStrictEqual(expected)
  })
})

const Notices = z.object({
  expiringDays: z.int(),
  cases: z.array(z.custom<{ name: string; before: Look; after: Look; notices: Notice[] }>()),
})
const notices = Notices.parse(read('notices'))
test.each(notices.cases.map((one) => [one.name, one] as const))('notices: %s', (_, one) => {
  expect(noticesOf(one.before, one.after, notices.expiringDays)).toStrictEqual(one.notices)
})

const Devices = z.object({
  readings: z.array(
    z.object({
      name: z.string(),
      ...{ tenantId: z.string(), productId: z.string(), machine: z.array(z.string().nullable()) },
      components: z.record(z.string(), z.string().nullable()),
      ...{ machineHash: z.string().nullable(), device: z.record(z.string(), z.string()) },
    }),
  ),
  cases: z.array(z.object({ value: z.string(), shared: z.boolean() })),
})
const devices = Devices.parse(read('devices'))
test.each(devices.readings.map((one) => [one.name, one] as const))('machine: %s', (_, one) => {
  const machine = one.machine.map((value) => value ?? undefined)
  const components = Object.fromEntries(
    Object.entries(one.components).map(([part, value]) => [part, value ?? undefined]),
  )
  const { machineHash = null, device } = identityOf(one, { machine, components })
  expect({ machineHash, device }).toStrictEqual({ machineHash: one.machineHash, device: one.device })
})
test('values that many machines share', () => {
  const found = devices.cases.map(({ value }) => ({ value, shared: isShared(value) }))
  expect(found).toStrictEqual(devices.cases.map(({ value, shared }) => ({ value, shared })))
})

const Answers = z.object({
  now: z.int(),
  cases: z.array(
    z.looseObject({
      ...{ name: z.string(), why: z.string(), status: z.int().nullable(), body: z.unknown() },
      ...{ retryAfter: z.string().optional(), code: z.string() },
    }),
  ),
})
const answers = Answers.parse(read('answers'))
test.each(answers.cases.map((one) => [one.name, one] as const))('answer: %s', (_, one) => {
  const { name, why, status, body, retryAfter, ...expected } = one
  const waits = retryAfterMs(retryAfter ?? null, answers.now * 1000)
  const { message, ...problem } = problemOf(
    status === null ? undefined : { status, body, retryAfterMs: waits },
  )
  expect(JSON.parse(JSON.stringify(problem))).toStrictEqual(expected)
  expect(message).not.toBe('')
})

const Requests = z.object({
  ...{ tenantId: z.string(), productId: z.string(), seed: z.string(), deviceKey: z.string() },
  cases: z.array(
    z.object({
      ...{ name: z.string(), kind: z.enum(['REQUEST', 'RELEASE']), message: z.string() },
      ...{ token: z.string(), text: z.string() },
    }),
  ),
})
const requests = Requests.parse(read('requests'))
test.each(requests.cases.map((one) => [one.name, one] as const))('signed by the device: %s', (_, one) => {
  const assertion = `keyledger:${one.kind.toLowerCase()}1:${requests.tenantId}:${requests.productId}`
  const token = signOwn(
    z.looseObject({}).parse(JSON.parse(one.message)),
    assertion,
    Buffer.from(requests.seed, 'hex'),
  )
  expect(token).toBe(one.token)
  expect(armored(one.kind, token)).toBe(one.text)
})

const Withdrawn = z.object({
  keyset: z.object({ keys: z.record(z.string(), z.string()) }),
  ...{ tenantId: z.string(), productId: z.string() },
  cases: z.array(z.looseObject({ name: z.string(), valid: z.boolean(), token: z.string() })),
})
const withdrawn = Withdrawn.parse(read('withdrawn'))
test.each(withdrawn.cases.map((one) => [one.name, one] as const))('list of withdrawn files: %s', (_, one) => {
  expect(readWithdrawn(one.token, withdrawn, withdrawn.keyset.keys)?.files).toStrictEqual(one.files)
})

const Tokens = z.object({
  publicKey: z.string(),
  cases: z.array(
    z.object({
      ...{ name: z.string(), valid: z.boolean(), token: z.string(), assertion: z.string() },
      ...{ message: z.string().optional(), footer: z.string().optional() },
    }),
  ),
})
const tokens = Tokens.parse(read('paseto'))
test.each(tokens.cases.map((one) => [one.name, one] as const))('token: %s', (_, one) => {
  const parsed = parseToken(one.token)
  const isGood = parsed !== undefined && isSigned(parsed, one.assertion, Buffer.from(tokens.publicKey, 'hex'))
  expect(isGood).toBe(one.valid)
  if (one.valid)
    expect(parsed && [text(parsed.message), text(parsed.footer)]).toStrictEqual([one.message, one.footer])
})
