/**
 * Guarantee: a server sends its checkpoints to the witnesses that are configured, and serves what they sign; a copy of its published
 * log can be checked elsewhere, with the witnesses required.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseCheckpoint } from '../../src/transparency/checkpoint.ts'
import { parseNote } from '../../src/transparency/note/note.ts'
import { tilePath, tileWidth } from '../../src/transparency/tree/tiles.ts'
import { createHost } from '../harness/process.ts'
import { startWitness } from './witness.ts'

const host = createHost()

const text = async (url: string): Promise<string> => (await fetch(url)).text()
const Log = z.object({ keys: z.array(z.string()) })

/** Downloads what a server publishes of its log. @returns the directory */
async function download(prefix: string): Promise<string> {
  const directory = host.path('log')
  const write = (path: string, content: Uint8Array | string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  const checkpoint = await text(`${prefix}/checkpoint`)
  write('checkpoint', checkpoint)
  const { size } = parseCheckpoint(parseNote(checkpoint).text)
  for (let index = 0; index * tileWidth < size; index += 1) {
    const path = tilePath({ level: 0, index, width: Math.min(tileWidth, size - index * tileWidth) })
    write(path, new Uint8Array(await (await fetch(`${prefix}/${path}`)).arrayBuffer()))
  }
  return directory
}

test('checkpoints are cosigned, and proved with the witness required', async () => {
  const { environment: stores } = await host.stores()
  expect(await host.run(['init', '--tenant', 'acme'], stores)).toMatchObject({ code: 0 })
  const first = await host.serve(stores)
  await expect.poll(async () => (await fetch(`${first.address}/v1/transparency/checkpoint`)).status).toBe(200)
  const log: unknown = await (await fetch(`${first.address}/v1/transparency/log`)).json()
  const key = Log.parse(log).keys[0] ?? ''
  const kept = host.path('kept')
  writeFileSync(kept, await text(`${first.address}/v1/transparency/checkpoint`))
  await first.end('SIGTERM')

  const witness = await startWitness(host, key)
  const environment = { ...stores, KEYLEDGER_NOTARY_WITNESSES: `${witness.url} ${witness.key}` }
  const server = await host.serve(environment)
  const prefix = `${server.address}/v1/transparency`
  await expect.poll(() => text(`${prefix}/checkpoint`)).toContain('— example.com/w1 ')
  const trust = ['--key', key, '--witness', witness.key]
  const proved = await host.run(['verify', 'server', server.address, '--checkpoint', kept, ...trust], {})
  expect(proved.stdout).toContain('Witness: example.com/w1 saw this log at ')
  expect(proved.code).toBe(0)

  const directory = await download(prefix)
  const copied = await host.run(['verify', 'log', directory, '--checkpoint', kept, ...trust], {})
  expect({ code: copied.code, stderr: copied.stderr }).toStrictEqual({ code: 0, stderr: '' })

  // Without the witness, the server goes on and says so.
  await witness.running.end('SIGKILL')
  expect(await host.run(['tenant', 'create', 'later', '--name', 'Later'], environment)).toMatchObject({
    code: 0,
  })
  await expect.poll(() => server.stderr()).toContain('notary.not_cosigned')
  const alone = await host.run(['verify', 'server', server.address, '--checkpoint', kept, ...trust], {})
  expect(alone.stdout).toContain('cosigned by 0 of the witnesses')
  expect(alone.code).toBe(1)
  await server.end('SIGTERM')
})
