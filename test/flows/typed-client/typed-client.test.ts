/** Guarantee: a client generated from the OpenAPI document compiles, and works for a vendor's whole journey. */
import { execFile } from 'node:child_process'
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, listApprovals } from '../../../src/gate/approvals.ts'
import { makeTenant, openTestApi, type TestApi } from '../../harness/api.ts'
import { approver } from '../../harness/gate.ts'
import { temporaryDirectory } from '../../harness/ledger.ts'

const repository = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

let api: TestApi
let address: string
let directory: string
beforeAll(async () => {
  api = await openTestApi()
  address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  directory = temporaryDirectory()
})
afterAll(async () => {
  await api.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a vendor gets from the first product to a revocation', async () => {
  await generate()
  const tsc = join(repository, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '--project', directory]).catch((failed: { stdout?: string }) => {
    throw new Error(`the client or the journey does not compile:\n${failed.stdout}`)
  })
  const { tenantId, token } = await makeTenant(api.ledger)
  const journey = run(process.execPath, [join(directory, 'journey.ts')], {
    env: { ...process.env, ADDRESS: address, TOKEN: token },
  })
  const person = approveWhatIsAsked(tenantId)
  const { stdout } = await journey
  await person
  expect(stdout).toContain('it is valid no more')
})

/** Generates the client from the running application's document, and a project that compiles it strictly. */
async function generate(): Promise<void> {
  writeFileSync(join(directory, 'openapi.json'), (await api.ask('GET', '/v1/openapi.json')).text)
  await createClient({
    input: join(directory, 'openapi.json'),
    output: { path: join(directory, 'client'), module: { extension: '.ts' } },
    plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
    logs: { level: 'silent', file: false },
  })
  cpSync(join(import.meta.dirname, 'journey.ts'), join(directory, 'journey.ts'))
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024', 'dom', 'dom.iterable'],
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
      },
      include: ['journey.ts'],
    }),
  )
}

async function approveWhatIsAsked(tenantId: string): Promise<void> {
  await expect.poll(async () => (await listApprovals(api.ledger.services, tenantId)).length).toBe(1)
  for (const { id } of await listApprovals(api.ledger.services, tenantId)) {
    await approve(api.ledger.services, tenantId, id, approver)
  }
}
