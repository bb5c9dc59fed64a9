// Guarantee: an incorrect command line prints the usage and exits with 2; help and version are printed to stdout.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Finished, program } from '../harness/process.ts'

const host = createHost()
const keyledger = (...args: string[]): Promise<Finished> => host.run(args, {})

test.each([
  [['nonsense'], "unknown command 'nonsense'"],
  [['licenses', 'show'], "missing required argument 'id'"],
  [['tenant', 'list', '--yaml'], "unknown option '--yaml'"],
  [
    ['serve', '--workers', '1e0'],
    '--workers must be a whole number from 1 to 64, in decimal digits; it is "1e0"',
  ],
  [['licenses', 'list', '--limit', '0x10'], '--limit must be a whole number from 1 to 100'],
  [['licenses', 'show', ''], '<id>: the value is empty'],
  [['serve', '--name', 'a'.repeat(201)], '--name must have at most 200 characters'],
  [['serve', '--roles', 'cook'], 'cook is not a role; choose from api, projector, reactions, dispatcher'],
])('%j exits with 2', async (args, message) => {
  const { stderr, ...rest } = await keyledger(...args)
  expect(rest).toStrictEqual({ code: 2, signal: null, stdout: '' })
  expect(stderr).toContain(message)
})

test('serve has no workspace to name on an event store of your own', async () => {
  const { code, stderr } = await host.run(['serve', '--name', 'Acme Tools'], {
    KEYLEDGER_EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false',
  })
  expect({ code, stderr }).toStrictEqual({
    code: 2,
    stderr: expect.stringContaining('keyledger tenant create ID --name NAME') as string,
  })
})

test('config names a misspelt variable, and prints the others without secrets', async () => {
  const { code, stderr } = await host.run(['config'], { KEYLEDGER_LOG_LEVELS: 'info' })
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean KEYLEDGER_LOG_LEVEL?') as string,
  })
  const metricsToken = 'a-token-for-the-monitor'
  const { stdout } = await host.run(['config', '--json'], { KEYLEDGER_METRICS_TOKEN: metricsToken })
  expect(JSON.parse(stdout)).toMatchObject({
    variables: { KEYLEDGER_METRICS_TOKEN: 'a value of length 23, which is not shown' },
  })
})

test('--version prints the version of the package', async () => {
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest))
  expect(await keyledger('--version')).toStrictEqual({
    code: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: '',
  })
})

test('--help prints to stdout and exits with 0', async () => {
  const { code, stdout, stderr } = await host.start(['node', program, '--help'], {}).finished
  expect({ code, stderr }).toStrictEqual({ code: 0, stderr: '' })
  for (const name of [
    'serve',
    'demo',
    'init',
    'doctor',
    'migrate',
    'config',
    'tenant',
    'token',
    'licenses',
    'projections',
  ])
    expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'))
})
