/** Guarantee: a receipt proves its event, and no other event, checkpoint or signer. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../src/verifier/receipt.ts'
import { receiptLines } from '../../src/verifier/sentences.ts'
import { trustIn } from '../../src/verifier/trust.ts'
import { archivedLog } from './signed-archive.ts'
import {
  bytesOf,
  eventsOf,
  findingOf,
  key,
  origin,
  otherKey,
  signedLog,
  witness,
  witnessedAt,
  witnessName,
} from './signed-log.ts'

const log = signedLog(bytesOf(eventsOf(300)))
const trust = trustIn([key], [])

test('it says which event is proved, and by which checkpoint', async () => {
  const { event, checkpoint } = verifyReceipt(await log.receiptOf(7, log.cosigned), trustIn([key], [witness]))
  expect(event).toStrictEqual({
    stream: 'license-lic_1',
    revision: 3,
    id: '00000000-0000-4000-8000-000000000007',
    type: 'DeviceActivated',
    at: '2026-11-21T09:29:00.000Z',
    index: 7,
  })
  expect(checkpoint).toMatchObject({
    origin,
    size: 300,
    cosigned: [{ witness: witnessName, at: witnessedAt }],
  })
})

test('of a file with more members, only the record is said to be proved', async () => {
  const more = { type: 'license.revoked', ...(JSON.parse(await log.receiptOf(7)) as object) }
  const proved = verifyReceipt(JSON.stringify(more), trust)
  expect(proved.notProved).toStrictEqual([
    'Not proved: the other members of the file, "type". Only what is in "record" is.',
  ])
  expect(receiptLines(proved)[0]).toMatch(/^PROVED IN PART/)
  expect(verifyReceipt(await log.receiptOf(7), trust).notProved).toStrictEqual([])
})

test('of an event with a salt, the whole record is proved', async () => {
  const salted = eventsOf(9).map((event) => ({ ...event, metadata: { salt: '0f'.repeat(16) } }))
  const { receiptOf } = archivedLog(salted)
  const receipt = JSON.stringify({
    ...(JSON.parse(await receiptOf(7)) as object),
    record: Buffer.from(bytesOf(salted)[7] ?? []).toString(),
  })
  expect(verifyReceipt(receipt, trust).event).toMatchObject({ index: 7, revision: 3 })
  for (const [from, to] of [
    ['0f0f', '0f0e'],
    ['device-7', 'device-8'],
    ['\\"revision\\":3', '\\"revision\\":4'],
    ['DeviceActivated', 'DeviceDeactivated'],
    ['license-lic_1', 'license-lic_0'],
    ['000000000007', '000000000008'],
  ] as const)
    expect((await findingOf(() => verifyReceipt(receipt.replace(from, to), trust))).finding, to).toBe(
      'differs',
    )
  // The entry itself, and the part without the salt, are no records.
  expect((await findingOf(async () => verifyReceipt(await receiptOf(7), trust))).finding).toBe('malformed')
})

describe('it is refused', () => {
  const find = async (change: (receipt: string) => string, keys = [key]) => {
    const receipt = change(await log.receiptOf(7))
    return (await findingOf(() => verifyReceipt(receipt, trustIn(keys, [])))).finding
  }

  test('with another content, index, root, size or signer', async () => {
    expect(await find((text) => text.replace('device-7', 'device-8'))).toBe('differs')
    expect(await find((text) => text.replace('000000000007', '000000000008'))).toBe('differs')
    expect(await find((text) => text.replace('index 7', 'index 6'))).toBe('differs')
    expect(await find((text) => text.replace('index 7', 'index 300'))).toBe('not_covered')
    expect(await find((text) => text.replace('\\n300\\n', '\\n299\\n'))).toBe('wrong_signature')
    expect(await find((text) => text.replaceAll(origin, 'other.example/log'))).toBe('foreign_key')
    expect(await find((text) => text, [otherKey])).toBe('foreign_key')
  })

  test('when the record says the same in another form', async () => {
    expect(await find((text) => text.replace('{\\"data\\"', '{ \\"data\\"'))).toBe('malformed')
    const receipt = await log.receiptOf(7)
    const { record, proof } = JSON.parse(receipt) as { record: string; proof: string }
    const doubled = `{"id":"x",${record.slice(1)}`
    const { finding } = await findingOf(() =>
      verifyReceipt(JSON.stringify({ record: doubled, proof }), trust),
    )
    expect(finding).toBe('malformed')
  })

  test('with half a surrogate pair, in the receipt and in the record, and with a number or nesting that no event has', async () => {
    const receipt = await log.receiptOf(7)
    const inRecord = (value: string) => receipt.replace('\\"device-7\\"', JSON.stringify(value).slice(1, -1))
    for (const changed of [
      receipt.replace('device-7', '\\ud800'),
      inRecord('"\\ud800"'),
      inRecord('1e999'),
      inRecord('['.repeat(50_000) + ']'.repeat(50_000)),
      '['.repeat(50_000),
    ]) {
      const { finding } = await findingOf(() => verifyReceipt(changed, trust))
      expect(finding, changed.slice(0, 60)).toBe('malformed')
    }
  })

  test('with a member given twice, and with extra data in its proof', async () => {
    expect(await find((text) => text.replace('{"record"', '{"record":"{}","record"'))).toBe('malformed')
    expect(await find((text) => text.replace('\\nindex 7', '\\nextra Zm9yZ2Vk\\nindex 7'))).toBe('added')
  })

  test('with the checkpoint of a foreign key, also when the own key is trusted', async () => {
    const forged = signedLog(bytesOf(eventsOf(300)), 'foreign')
    const { finding } = await findingOf(async () => verifyReceipt(await forged.receiptOf(7), trust))
    expect(finding).toBe('foreign_key')
  })

  test('with fewer witnesses than required', async () => {
    const receipt = await log.receiptOf(7)
    const { finding } = await findingOf(() => verifyReceipt(receipt, trustIn([key], [witness])))
    expect(finding).toBe('too_few_witnesses')
    expect(() => verifyReceipt(receipt, trustIn([key], [witness], '0'))).not.toThrow()
  })

  test('whatever character of it is replaced', async () => {
    const receipt = await log.receiptOf(7)
    fc.assert(
      fc.property(fc.nat({ max: receipt.length - 1 }), fc.constantFrom('a', 'Z', '0', '"', ' '), (at, by) => {
        const changed = `${receipt.slice(0, at)}${by}${receipt.slice(at + 1)}`
        fc.pre(changed !== receipt)
        expect(() => verifyReceipt(changed, trust)).toThrow(Error)
      }),
      { numRuns: 300 },
    )
  })
})

test('keys that cannot be used are named', () => {
  expect(() => trustIn([], [])).toThrow('--key')
  expect(() => trustIn([witness], [])).toThrow('not the key of a log')
  expect(() => trustIn([key], [key])).toThrow('not the key of a witness')
  expect(() => trustIn([key], [witness, witness])).toThrow('twice')
  for (const threshold of ['', ' ', ' 1', '2', '-0', '-1', '1e0', '0x1', '+1', '1.0', '١', 'NaN'])
    expect(() => trustIn([key], [witness], threshold)).toThrow(
      '--threshold must be a whole number from 0 to 1',
    )
  expect(() => trustIn(['nonsense'], [])).toThrow('not usable')
})
