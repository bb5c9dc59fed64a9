/** Guarantee: a receipt proves its event, and no other event, checkpoint or signer. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../src/verifier/receipt.ts'
import { trustIn } from '../../src/verifier/trust.ts'
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

  test('with the checkpoint of a foreign key, also when the own key is trusted', async () => {
    const forged = signedLog(bytesOf(eventsOf(300)), 'foreign')
    const { finding } = await findingOf(async () => verifyReceipt(await forged.receiptOf(7), trust))
    expect(finding).toBe('foreign_key')
  })

  test('with fewer witnesses than required', async () => {
    const receipt = await log.receiptOf(7)
    const { finding } = await findingOf(() => verifyReceipt(receipt, trustIn([key], [witness])))
    expect(finding).toBe('too_few_witnesses')
    expect(() => verifyReceipt(receipt, trustIn([key], [witness], 0))).not.toThrow()
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
  expect(() => trustIn([key], [witness], 2)).toThrow('--threshold')
  expect(() => trustIn(['nonsense'], [])).toThrow('not usable')
})
