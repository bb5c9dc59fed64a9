/**
 * Guarantee: `keyledger import` shows what becomes of an export before anything is changed, imports it with --apply,
 * and says what it did not take. An import that is killed continues when it is run again.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createPool } from '../../projections/database/pool.ts'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { createProduct } from '../../src/commands/products.ts'
import { parseConfig } from '../../src/config.ts'
import { createVendor } from '../flows/vendor.ts'
import { createHost, type Environment, type Finished, hasEnded, program } from '../harness/process.ts'
import { startStandIn } from '../harness/stand-in.ts'
import { wholeVariable } from '../harness/variables.ts'
import { hashesOf } from '../import/imports.ts'
import { shapes } from '../import/shapes.ts'

const host = createHost()
let environment: Environment
beforeAll(async () => {
  ;({ environment } = await host.stores())
  await makeEditor(environment)
})

/** The tenant `acme` with the product `editor`. */
async function makeEditor(stores: Environment): Promise<void> {
  await createVendor(stores)
  const { ports, close } = await openStores(parseConfig(stores), createLog('silent'))
  const product = { tenantId: 'acme', productId: 'editor', name: 'Editor', keyPrefix: 'ACME', settings: {} }
  const origin = { requestId: 'req_test', actor: 'operator:test' }
  await createProduct(ports, { ...product, plan: 'unlimited', keyTypes: [] }, origin)
  await close()
}

const importing = (...args: string[]): Promise<Finished> =>
  host.run(['import', '--tenant', 'acme', '--product', 'editor', ...args], environment)

const Result = z.looseObject({ imported: z.int(), alreadyThere: z.int(), leftOut: z.int() })

function exportFile(text: string): string {
  const path = `${host.path('export')}.csv`
  writeFileSync(path, text)
  return path
}

describe('keyledger import', () => {
  test('prints the plan, and with --apply what it did', async () => {
    const path = exportFile(
      'licenseKey,plan,status\nOLD-1111,Pro,active\nOLD-2222,Pro,suspended\nOLD,Pro,active\n',
    )
    const report = host.path('report')
    const dry = await importing('--from', 'csv', path, '--report', report)
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout.split('\n')).toStrictEqual([
      'Product editor',
      'POLICY  LICENSES  KEY TYPE       DEVICES  DURATION   ON EXPIRY  ENTITLEMENTS',
      'Pro     3         pro       new  1        perpetual  expires    -',
      '',
      'Licenses read       3',
      'New                 2  1 active, 1 suspended, 0 devices',
      'Imported before     0',
      'Cannot be imported  1',
      '',
      'Cannot be imported:',
      expect.stringMatching(/^ {2}1 {2}licenseKey is too short; .* such as export-\d+\.csv:4$/) as string,
      '',
      'Nothing was changed. To import them, run the same command with --apply.',
      '',
    ])
    expect(JSON.parse(readFileSync(report, 'utf8'))).toStrictEqual({
      from: expect.stringMatching(/:4$/) as string,
      externalId: null,
      outcome: 'left_out',
      reason: 'licenseKey is too short; it needs at least 6 letters or digits',
      key: '…',
    })
    expect(statSync(report).mode & 0o777).toBe(0o600)
    const wet = await importing('--from', 'csv', path, '--apply')
    expect(wet.stdout).toMatch(/^Imported +2 +1 active, 1 suspended, 0 devices$/m)
    const again = await importing('--from', 'csv', path, '--apply', '--json')
    expect(Result.parse(JSON.parse(again.stdout))).toMatchObject({ imported: 0, alreadyThere: 2, leftOut: 1 })
    expect(readdirSync(join(environment.KEYLEDGER_DATA_DIR ?? '', 'imports'))).toStrictEqual([])
  })

  test('says which organizations it makes, of how many people, and which it cannot', async () => {
    const path = exportFile(
      'licenseKey,organization,administrators,members\nORG-1111,ACME,ada@example.com,bob@example.com\nORG-2222,Globex,,bob@example.com\n',
    )
    const dry = await importing('--from', 'csv', path)
    expect(dry.stdout.split('\n').slice(4, -2)).toStrictEqual([
      'Licenses read       2',
      'New                 2  2 active, 0 devices',
      'Imported before     0',
      'Cannot be imported  0',
      '',
      'Imported in part:',
      expect.stringMatching(
        /^ {2}1 {2}Its organization is left out; .* such as export-\d+\.csv:3$/,
      ) as string,
      '',
      'New organizations   1  2 people',
      'Imported before     0',
      'Cannot be imported  1',
      '',
      'Organizations that cannot be imported:',
      expect.stringMatching(/^ {2}1 {2}It has no administrator .* such as export-\d+\.csv:3$/) as string,
      '',
    ])
    await importing('--from', 'csv', path, '--apply')
    const again = await importing('--from', 'csv', path, '--apply', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      alreadyThere: 2,
      organizations: { imported: 0, alreadyThere: 1, leftOut: 1, people: 0, reasons: [{ organizations: 1 }] },
    })
  })

  test.each([
    [['--from', 'csv', '/nowhere.csv'], 1, '/nowhere.csv does not exist.'],
    [['--from', 'csv', program], 1, 'keyledger.ts is not JSON.'],
    [['--from', 'csv'], 2, 'Name an export file or a directory, or add --api, but not both.'],
    [['--from', 'csv', '--api'], 2, 'csv has no API.'],
    [['--from', 'keygen', '--api'], 2, 'The account is missing.'],
    [['--from', 'gumroad', '--api'], 2, 'The API key is missing or not usable.'],
    [['--from', 'gumroad', '--api', '--api-url', 'http://example.com'], 2, 'It must begin with https://.'],
    [['--from', 'nowhere', 'x.csv'], 2, "argument 'nowhere' is invalid"],
    [['--from', 'csv', 'x.csv', '--tenant', 'nobody'], 1, 'tenant not found'],
    [['--from', 'csv', 'x.csv', '--product', 'a=nothing'], 2, '--product editor is not valid'],
    [['--from', 'csv', 'x.csv', '--map', 'Pro'], 2, '--map Pro is not valid'],
    [['--from', 'csv', 'x.csv', '--organization', 'ACME'], 2, '--organization ACME is not valid'],
    [['--from', 'csv', 'x.csv', '--organization', 'ACME=cus_1'], 1, 'customer not found'],
    [['--from', 'csv', 'x.csv', '--column', 'Serial=key'], 2, '--column Serial=key is not valid'],
  ])('exits for %j with %i', async (args, code, message) => {
    const { stderr, ...rest } = await importing(...args)
    expect(rest).toStrictEqual({ code, signal: null, stdout: '' })
    expect(stderr).toContain(message)
  })
})

test('keyledger import changes nothing when its report cannot be written', async () => {
  const path = exportFile('licenseKey,externalId\nOLD-7777,report\n')
  const refused = await importing('--from', 'csv', path, '--apply', '--report', '/nowhere/report')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain("open '/nowhere/report'")
  expect((await importing('--from', 'csv', path)).stdout).toMatch(/^New +1 /m)
})

test('keyledger import --api fetches once, keeps it for --apply, and deletes it then', async () => {
  const sale = {
    id: 'sale-1',
    license_key: 'GUM-1111-2222',
    created_at: '2025-01-05T19:38:56Z',
    product_name: 'App',
  }
  const gumroad = await startStandIn(() => ({ status: 200, body: { success: true, sales: [sale] } }))
  onTestFinished(() => gumroad.close())
  const keyFile = host.path('key')
  writeFileSync(keyFile, 'secret\n')
  const words = ['--from', 'gumroad', '--api', '--api-url', gumroad.url, '--api-key-file', keyFile]
  const dry = await importing(...words)
  expect(dry).toMatchObject({ code: 0, stderr: 'Fetching sales\n' })
  expect(dry.stdout).toMatch(/^New +1 +1 active/m)
  const wet = await importing(...words, '--apply')
  expect(wet.stderr).toMatch(/^Using what was fetched before, in .*\. To fetch it again, add --refetch\.\n$/)
  expect(wet.stdout).toMatch(/^Imported +1 +1 active/m)
  expect(gumroad.asked.map(({ key, path }) => [key, path])).toStrictEqual([['secret', '/v2/sales']])
  expect(readdirSync(join(environment.KEYLEDGER_DATA_DIR ?? '', 'imports'))).toStrictEqual([])
})

/** `KEYLEDGER_TEST_IMPORTS=100000` for the long run, with every system; all of them are killed in `test/import/kill`. */
const isLongRun = process.env.KEYLEDGER_TEST_IMPORTS !== undefined
const licenses = wholeVariable('KEYLEDGER_TEST_IMPORTS', 4000)
const killed = shapes.filter(({ source }) => isLongRun || source === 'keygen')

/** The key hashes of all imports in the log, and how many licenses the read models have. */
async function openLog(stores: Environment) {
  const db = createPool(stores.KEYLEDGER_DATABASE_URL ?? '')
  const { ports, close } = await openStores(parseConfig(stores), createLog('silent'))
  return {
    ports,
    async count(): Promise<number> {
      const { rows } = await db.query<{ count: number }>('select count(*)::int as count from licenses')
      return rows[0]?.count ?? 0
    },
    async importedHashes(): Promise<string[]> {
      const hashes: string[] = []
      for (let after: bigint | undefined; ; ) {
        const page = await ports.ledger.readPage(after, 1000)
        if (page.through === undefined) return hashes.toSorted()
        after = page.through
        for (const entry of page.entries) {
          if (entry.readable && entry.event.type === 'LicenseImported') hashes.push(entry.event.data.keyHash)
        }
      }
    },
    async close() {
      await close()
      await db.end()
    },
  }
}

describe.each(killed)('an import from $source', (shape) => {
  test(`with ${licenses} licenses that is killed in the middle and run again has each of them once`, async () => {
    const { environment: own } = await host.stores()
    await makeEditor(own)
    const path = host.path('shape')
    await shape.write(path, licenses)
    const words = [
      'import',
      '--from',
      shape.source,
      path,
      '--tenant',
      'acme',
      '--product',
      'editor',
      '--apply',
    ]
    const log = await openLog(own)
    try {
      const importer = host.start(['node', program, ...words], own)
      while ((await log.count()) < licenses / 4 && !hasEnded(importer)) await sleep(5)
      await importer.end('SIGKILL')
      const before = (await log.importedHashes()).length
      expect(before).toBeGreaterThan(0)
      expect(before).toBeLessThan(licenses)
      const { imported, alreadyThere, leftOut } = await host.json(Result, words, own)
      expect({ imported, alreadyThere, leftOut }).toStrictEqual({
        imported: licenses - before,
        alreadyThere: before,
        leftOut: 0,
      })
      const keys = Array.from({ length: licenses }, (_, number) => shape.expected(number).licenseKey)
      expect(await log.importedHashes()).toStrictEqual(await hashesOf(log.ports, 'acme', keys))
      // Its work files have license keys in clear.
      expect(readdirSync(join(own.KEYLEDGER_DATA_DIR ?? '', 'imports'))).toStrictEqual([])
    } finally {
      await log.close()
    }
  }, 3_600_000)
})
