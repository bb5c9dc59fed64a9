/** The packed client for apps works where it is installed, also with an older Node, without any other package. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { buildJavascript } from '../../infra/build/javascript.ts'
import { oldNode } from '../harness/old-node.ts'
import { createHost } from '../harness/process.ts'

const host = createHost()
const project = host.directory
const installed = join(project, 'node_modules/@keyledger/client')

beforeAll(async () => {
  const made = host.path('made')
  await buildJavascript(made)
  const { files } = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(made, 'package.json'), 'utf8')))
  mkdirSync(installed, { recursive: true })
  for (const name of ['package.json', ...files])
    cpSync(join(made, name), join(installed, name), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
})

const old = oldNode()

test('it needs no other package', () => {
  const { dependencies, peerDependencies, optionalDependencies } = z
    .looseObject({})
    .parse(JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')))
  expect([dependencies, peerDependencies, optionalDependencies]).toStrictEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test.each([process.execPath, ...(old === undefined ? [] : [old])])(
  'apps and servers import its parts with %s',
  async (node) => {
    writeFileSync(
      join(project, 'program.js'),
      "import { createClient, memoryStorage, stateOf } from '@keyledger/client'\n" +
        "import { createMeters, memoryJournal } from '@keyledger/client/meters'\n" +
        "import { fileStorage } from '@keyledger/client/node'\n" +
        "import { createServerClient, verifyWebhook } from '@keyledger/client/server'\n" +
        "import { normaliseLicenseKey } from '@keyledger/client/verify'\n" +
        "const place = { baseUrl: 'http://x', tenantId: 'a', productId: 'b', sdkKey: 'c', storage: memoryStorage() }\n" +
        'const client = createClient(place)\n' +
        "const server = createServerClient({ baseUrl: 'http://x', token: 't' })\n" +
        // A meter takes a client only if both parts share what a client consists of.
        "console.log(client.state().status, stateOf().status, typeof createMeters(client, { journal: memoryJournal() }).meter('calls').use)\n" +
        "console.log(typeof fileStorage, typeof verifyWebhook, typeof server.mintLicense, normaliseLicenseKey('demo-1'))\n",
    )
    expect(await host.start([node, join(project, 'program.js')], {}).finished).toMatchObject({
      stderr: '',
      stdout: 'starting starting function\nfunction function function DEMO1\n',
    })
  },
)

test('it has the types of every operation', () => {
  expect(readFileSync(join(installed, 'dist/server/described.d.ts'), 'utf8')).toContain('mintLicense: {')
})
