/** Guarantee: a server that does not continue the log of a kept checkpoint is found out. */
import { expect, test } from 'vitest'
import { verifyServer } from '../../src/verifier/server.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { bytesOf, eventsOf, findingOf, key, signedLog, witness } from './signed-log.ts'

const records = bytesOf(eventsOf(700))
const trust = trustIn([key], [])
const serve = (log: ReturnType<typeof signedLog>, checkpoint = log.checkpoint) => ({
  checkpoint: () => Promise.resolve(checkpoint),
  tile: log.read,
})
const whole = signedLog(records)

test.each([0, 1, 255, 256, 257, 512, 699, 700])('a log continues its first %i events', async (size) => {
  const kept = signedLog(records.slice(0, size)).checkpoint
  const { checkpoint } = await verifyServer(serve(whole), trust, kept)
  expect(checkpoint.size).toBe(700)
})

test('a rewritten log is a fork, at any size', async () => {
  const forked = signedLog(records.with(3, Buffer.from('rewritten')))
  for (const size of [4, 256, 400, 700]) {
    const kept = signedLog(records.slice(0, size)).checkpoint
    expect((await findingOf(() => verifyServer(serve(forked), trust, kept))).finding).toBe('fork')
  }
})

test('a restored older copy is a rollback', async () => {
  const older = signedLog(records.slice(0, 500))
  const { finding } = await findingOf(() => verifyServer(serve(older), trust, whole.checkpoint))
  expect(finding).toBe('rollback')
})

test('a checkpoint of a foreign key is refused, on the server and in the file', async () => {
  const foreign = signedLog(records, 'foreign')
  for (const [served, kept] of [
    [foreign, whole],
    [whole, foreign],
  ] as const) {
    const { finding } = await findingOf(() => verifyServer(serve(served), trust, kept.checkpoint))
    expect(finding).toBe('foreign_key')
  }
})

test('the witnesses have to have cosigned what the server shows, not what was kept', async () => {
  const strict = trustIn([key], [witness])
  const kept = signedLog(records.slice(0, 10)).checkpoint
  expect((await findingOf(() => verifyServer(serve(whole), strict, kept))).finding).toBe('too_few_witnesses')
  await expect(verifyServer(serve(whole, whole.cosigned), strict, kept)).resolves.toBeDefined()
})
