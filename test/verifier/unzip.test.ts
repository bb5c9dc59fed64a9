/** Guarantee: a zip archive is read only if every byte of it is as keyledger writes it. */
import { describe, expect, test } from 'vitest'
import { zipped } from '../../src/evidence/zip.ts'
import { unzip } from '../../src/verifier/unzip.ts'
import { findingOf } from './signed-log.ts'

describe('a zip archive', () => {
  const packed = async (files: Iterable<[string, Uint8Array]>) => {
    async function* all() {
      for (const [name, content] of files) yield { name, content: Buffer.from(content) }
    }
    const chunks: Buffer[] = []
    for await (const chunk of zipped(all())) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  test('is read as it was made', async () => {
    const files = new Map([
      ['README.txt', Buffer.from('Read me')],
      ['events/license-0001.jsonl', Buffer.of()],
    ])
    expect(unzip(await packed(files))).toEqual(files)
  })

  test('that is cut, has bytes of its own, or a byte of whose headers was changed, is refused', async () => {
    const zip = await packed([['a', Buffer.from('content')]])
    const more = [zip.subarray(0, -30), zip.subarray(1), Buffer.from('no archive'), Buffer.concat([zip, zip])]
    const changed = Array.from(zip, (byte, at) => Buffer.from(zip).fill(byte ^ 1, at, at + 1))
    for (const [at, bytes] of [...more, ...changed].entries())
      expect((await findingOf(() => unzip(bytes))).finding, String(at)).toBe('malformed')
  })

  test('with two files of one name is refused', async () => {
    const zip = await packed([
      ['a', Buffer.of(1)],
      ['a', Buffer.of(2)],
    ])
    expect(() => unzip(zip)).toThrow('two files named a')
  })
})
