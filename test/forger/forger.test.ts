/**
 * Guarantee: of an archive that somebody altered who knows the format and has everything but the keys of the vendor and of the log,
 * the verifier proves nothing that is false, and names what is wrong.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servedLog } from '../../src/cli/served-log.ts'
import { type ProvedArchive, readArchive, verifyArchive } from '../../src/verifier/archive.ts'
import { verifyLog } from '../../src/verifier/log.ts'
import { NotProved } from '../../src/verifier/not-proved.ts'
import { readLog } from '../../src/verifier/read-log.ts'
import { verifyReceipt } from '../../src/verifier/receipt.ts'
import { verifyServer } from '../../src/verifier/server.ts'
import { type Trust, trustIn } from '../../src/verifier/trust.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { wholeVariable } from '../harness/variables.ts'
import { type Forgery, forge, plans } from './forgery.ts'
import { type Genuine, makeGenuine } from './genuine.ts'
import { lies, rootsAreGenuine } from './law.ts'
import { areGenuineRecords, forgeLog, logOf } from './logs.ts'
import { packedFrom } from './pack.ts'
import { randomOf } from './random.ts'
import { forgeReceipt, isGenuineReceipt } from './receipts.ts'
import { openForgedServer } from './served.ts'
import { linkTwice, unpack, unpackedAlterations } from './unpacked.ts'
import { beginWith, treeAt } from './work.ts'
import { zipOf } from './zip.ts'

const forgeries = wholeVariable('KEYLEDGER_TEST_FORGERIES', 300)

let genuine: Genuine
let trust: Trust
beforeAll(async () => {
  genuine = await makeGenuine()
  trust = trustIn([genuine.key], [])
})
afterAll(() => genuine.close())

/** The answer of the verifier. Any other error fails the test. */
function answerOf(zip: Buffer, knowsVendor: boolean): ProvedArchive | NotProved {
  try {
    return verifyArchive(unzip(zip), trust, knowsVendor ? [genuine.vendorKey] : [])
  } catch (error) {
    if (error instanceof NotProved) return error
    throw error
  }
}

test('what the forger makes of genuine files is what the ledger made of them', () => {
  for (const [name, zip] of genuine.archives) {
    const work = beginWith(genuine, name)
    expect(zipOf(packedFrom(work.files))).toStrictEqual(zip)
    expect(rootsAreGenuine(work)).toBe(true)
  }
})

test('no altered archive is accepted, and what is wrong is named', async () => {
  const answers: Record<string, number> = {}
  const faults: string[] = []
  for (const plan of fc.sample(plans, { numRuns: forgeries, seed: 7 })) {
    // The stores go on meanwhile.
    await setImmediate()
    const forgery = forge(genuine, plan)
    const answer = answerOf(forgery.zip, plan.knowsVendor)
    const kind = kindOf(answer)
    const combination = `${forgery.verdict}, answered ${kind}`
    answers[combination] = (answers[combination] ?? 0) + 1
    for (const fault of faultsOf(forgery, answer)) faults.push(`${fault}: ${forgery.did}: ${textOf(answer)}`)
  }
  expect(faults).toStrictEqual([])
  expect(answers['partly, answered partly']).toBeGreaterThan(0)
}, 3_600_000)

const kindOf = (answer: ProvedArchive | NotProved): 'refused' | 'proved' | 'partly' =>
  answer instanceof NotProved ? 'refused' : answer.notProved.length === 0 ? 'proved' : 'partly'

const textOf = (answer: ProvedArchive | NotProved): string =>
  answer instanceof NotProved ? answer.message : JSON.stringify(answer)

/** What is wrong with an answer. */
function faultsOf(forgery: Forgery, answer: ProvedArchive | NotProved): string[] {
  const { verdict } = forgery
  if (answer instanceof NotProved)
    return [
      ...namedFaults(forgery, answer),
      ...(verdict === 'genuine' && !isOthersKey(forgery) ? ['it is genuine, and refused'] : []),
    ]
  return [...lies(forgery.work, answer), ...(verdict === 'refused' ? ['it is accepted'] : [])]
}

/** The archive of the other tenant is not signed with the key that the reader knows. */
const isOthersKey = ({ work }: Forgery): boolean => work.base === 'of another tenant'

/** What is wrong with the words of a refusal. */
function namedFaults({ touched, verdict }: Forgery, { message, event }: NotProved): string[] {
  const text = `${message} ${JSON.stringify(event ?? {})}`.toLowerCase()
  const isNamed = [...touched].some((word) => word !== '' && text.includes(word.toLowerCase()))
  return [
    ...(isNamed || verdict === 'genuine' ? [] : ['what was altered is not named']),
    ...(/\p{Cc}|\p{Cf}|\p{Cs}/u.test(message) ? ['the message has characters that are not printed'] : []),
    ...(message.length > 2000 ? [`the message has ${message.length} characters`] : []),
  ]
}

test.each(unpackedAlterations)('of an unpacked archive, $what is named', async ({ alter, named }) => {
  const outside = mkdtempSync(join(tmpdir(), 'kl-forger-'))
  const directory = join(outside, 'archive')
  unpack(beginWith(genuine, 'minted').files, directory)
  linkTwice((name) => join(directory, name))
  expect(verifyArchive(readArchive(directory), trust).notProved).toStrictEqual([])
  alter((name) => join(directory, name))
  const answer = await answerTo(() => verifyArchive(readArchive(directory), trust))
  rmSync(outside, { recursive: true })
  expect(answer).toMatchObject({ refused: { message: expect.stringMatching(named) as string } })
  expect('refused' in answer && answer.refused.message).not.toMatch(/\p{Cc}|\p{Cf}/u)
})

const share = (of300: number): number => Math.ceil((forgeries * of300) / 300)

/** The refusal of a check, or what it proved. Any other error fails the test. */
async function answerTo<Proved>(
  check: () => Promise<Proved> | Proved,
): Promise<{ proved: Proved } | { refused: NotProved }> {
  try {
    return { proved: await check() }
  } catch (error) {
    if (error instanceof NotProved) return { refused: error }
    throw error
  }
}

test('no altered receipt is accepted', async () => {
  const faults: string[] = []
  let refusals = 0
  for (const receipt of genuine.receipts) expect(verifyReceipt(receipt, trust).notProved).toStrictEqual([])
  for (let seed = 0; seed < share(100); seed++) {
    const text = forgeReceipt(genuine, randomOf(seed))
    const answer = await answerTo(() => verifyReceipt(text, trust))
    if ('refused' in answer) {
      refusals++
      if (!/receipt|record|proof|checkpoint|index|license-/i.test(answer.refused.message))
        faults.push(`${seed}: ${answer.refused.message}`)
      continue
    }
    const { event, notProved } = answer.proved
    const { stream, revision, id, type } = genuine.records[event.index] ?? {}
    expect({ stream, revision, id, type }).toStrictEqual({
      stream: event.stream,
      revision: event.revision,
      id: event.id,
      type: event.type,
    })
    const extra = Object.keys(JSON.parse(text) as object).filter(
      (name) => name !== 'record' && name !== 'proof',
    )
    if (!isGenuineReceipt(text, genuine)) faults.push(`${seed} is accepted: ${text.slice(0, 3000)}`)
    if (extra.length > 0 !== notProved.length > 0)
      faults.push(`${seed}: of ${extra.join()}, ${notProved.join()}`)
  }
  expect(faults).toStrictEqual([])
  expect(refusals).toBeGreaterThan(share(60))
})

test('no altered log is accepted', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kl-forger-'))
  const faults: string[] = []
  const check = async (files: ReadonlyMap<string, Buffer>, path: string, kept?: string) => {
    for (const [name, content] of files) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    return verifyLog(await readLog(path), trust, kept)
  }
  expect(await check(logOf(genuine), join(directory, 'genuine'), genuine.kept[0])).toMatchObject({
    records: true,
  })
  for (let seed = 0; seed < share(60); seed++) {
    const random = randomOf(seed)
    const kept = random.of([undefined, ...genuine.kept])
    const { files, verdict } = forgeLog(genuine, random, false)
    const path = join(directory, String(seed))
    const answer = await answerTo(() => check(files, path, kept))
    rmSync(path, { recursive: true })
    if ('refused' in answer) {
      if (!/checkpoint|tile|record|event|log/i.test(answer.refused.message))
        faults.push(`${seed}: ${answer.refused.message}`)
      continue
    }
    const { checkpoint, records } = answer.proved
    if (verdict === 'refused') faults.push(`${seed} is accepted`)
    if (!treeAt(genuine, checkpoint.size).root().equals(checkpoint.root)) faults.push(`${seed}: another root`)
    if (records && !areGenuineRecords(files, genuine, checkpoint.size)) faults.push(`${seed}: other records`)
    if (kept === genuine.checkpoint && checkpoint.size < genuine.records.length)
      faults.push(`${seed}: shorter than the kept one`)
  }
  rmSync(directory, { recursive: true })
  expect(faults).toStrictEqual([])
})

test('no server with an altered log is accepted', async () => {
  const forged = await openForgedServer()
  const faults: string[] = []
  const keptOnes = [...genuine.kept, ...genuine.receipts]
  for (const kept of keptOnes)
    expect(await verifyServer(servedLog(genuine.address), trust, kept)).toMatchObject({ kept: {} })
  forged.show(logOf(genuine))
  expect(await verifyServer(servedLog(forged.address), trust, genuine.kept[0] ?? '')).toMatchObject({
    kept: {},
  })
  for (let seed = 0; seed < share(20); seed++) {
    const random = randomOf(seed)
    const kept = random.of(keptOnes)
    const { files, verdict } = forgeLog(genuine, random, true)
    forged.show(files)
    const answer = await answerTo(() => verifyServer(servedLog(forged.address), trust, kept))
    if ('refused' in answer) {
      if (!/checkpoint|tile|log|server/i.test(answer.refused.message))
        faults.push(`${seed}: ${answer.refused.message}`)
      continue
    }
    const { checkpoint } = answer.proved
    // Only the tiles that a proof needs are read: what it proves is true, whatever the others are.
    const isSigned = genuine.kept.includes(files.get('checkpoint')?.toString() ?? '')
    if (verdict === 'refused' && !isSigned) faults.push(`${seed} is accepted`)
    if (!treeAt(genuine, checkpoint.size).root().equals(checkpoint.root)) faults.push(`${seed}: another root`)
    if (checkpoint.size < answer.proved.kept.size) faults.push(`${seed}: shorter than the kept one`)
  }
  await forged.close()
  expect(faults).toStrictEqual([])
})
