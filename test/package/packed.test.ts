/**
 * The packed package works where it is installed: its command serves the whole product from its own files. The packages that it needs are linked to those of this repository, not fetched again: only
 * those that npm would install with it.
 */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { neededPackages as neededInLock } from '../../infra/build/sbom.ts'
import { oldNode } from '../harness/old-node.ts'
import { createHost, type Environment, freePort, type Running } from '../harness/process.ts'

const repository = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const host = createHost()
/** Where programs are started: the project that keyledger is installed in. */
const project = host.directory
const installed = join(project, 'node_modules/keyledger')
const quietNpm = { npm_config_update_notifier: 'false', npm_config_offline: 'true' }

beforeAll(async () => {
  const environment = { ...process.env, ...quietNpm }
  await run('npm', ['pack', '--pack-destination', project], { cwd: repository, env: environment })
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz')) ?? ''
  await run('tar', ['-xzf', tarball], { cwd: project })
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  cpSync(join(project, 'package'), installed, { recursive: true })
  symlinkSync('../keyledger/bin/keyledger.js', join(project, 'node_modules/.bin/keyledger'))
  for (const path of neededPackages()) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    symlinkSync(join(repository, path), join(project, path))
  }
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
})

const old = oldNode()

test('it holds what runs and nothing else', () => {
  expect(readdirSync(installed).toSorted()).toStrictEqual([
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'package.json',
  ])
})

test('it lists every package that it runs on, with its hash', () => {
  const needed = neededInLock(repository)
  const Sbom = z.object({
    bomFormat: z.literal('CycloneDX'),
    components: z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        hashes: z.array(z.object({ alg: z.literal('SHA-512'), content: z.string() })).length(1),
      }),
    ),
  })
  const { components } = Sbom.parse(JSON.parse(readFileSync(join(installed, 'dist/sbom.cdx.json'), 'utf8')))
  const listed = components.map(({ name, version }) => `${name}@${version}`)
  expect(listed.toSorted()).toStrictEqual([...needed].toSorted())
  expect(listed.length).toBeGreaterThan(200)
})

test('its command serves the ledger, the description and the dashboard, and ends on Ctrl-C', async () => {
  const port = await freePort()
  // What npx runs. A terminal tells all of its processes of a Ctrl-C; npx alone would keep it to itself.
  const command = [join(project, 'node_modules/.bin/keyledger'), 'serve']
  const server = start(command, {
    KEYLEDGER_PORT: String(port),
    KEYLEDGER_DATA_DIR: host.path('data'),
    KEYLEDGER_WORKERS: '2',
  })
  await expect.poll(() => server.stderr()).toContain('"msg":"Ready"')
  const address = `http://localhost:${port}`
  const token = /^ {2}(kl_pat_\w+)$/m.exec(server.stdout())?.[1] ?? ''

  const { licenseKey } = Minted.parse(await send(address, token, '', { productId: 'demo-app' }))
  const seat = { product_id: 'demo-app', license_key: licenseKey, device_id: 'laptop' }
  expect(await send(address, token, '/activate', { ...seat, name: 'Laptop' })).toMatchObject({
    activated: true,
  })
  expect(await send(address, token, '/validate', seat)).toMatchObject({ valid: true, status: 'active' })
  for (const page of ['/dashboard/sign-in', '/docs/']) {
    expect(await assetsOf(new URL(page, address))).not.toStrictEqual([])
  }

  expect(await server.end('SIGINT')).toMatchObject({ code: 0 })
  await expect(fetch(`${address}/livez`)).rejects.toThrow()
  expect(existsSync(join(project, 'node_modules/.cache/keyledger'))).toBe(true)
})

test('npx finds its command', async () => {
  const { code, stdout } = await start(['npx', '--no-install', 'keyledger', '--help'], {}).finished
  expect(code).toBe(0)
  expect(stdout).toContain('Usage: keyledger')
})

test.runIf(old !== undefined)('under an older Node it finds the one that npm installed with it', async () => {
  const command = [old ?? '', join(installed, 'bin/keyledger.js'), '--help']
  expect(await start(command, {}).finished).toMatchObject({ code: 0, stderr: '' })
})

const Minted = z.object({ licenseKey: z.string() })

/** Runs a program without the compile cache that the harness gives: the package must find a place of its own. */
const start = ([first = '', ...rest]: readonly string[], environment: Environment): Running =>
  host.start(['env', '-u', 'NODE_COMPILE_CACHE', first, ...rest], { ...quietNpm, ...environment })

async function send(address: string, token: string, call: string, body: object): Promise<unknown> {
  const response = await fetch(`${address}/v1/licenses${call}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.json()
}

/** The files that a page refers to, each of which must be there. */
async function assetsOf(page: URL): Promise<string[]> {
  const response = await fetch(page)
  expect(response.status).toBe(200)
  const html = await response.text()
  const found = [...html.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg|png))"/g)].map(([, path = '']) => path)
  for (const path of found) expect((await fetch(new URL(path, page))).status, path).toBe(200)
  return found
}

/** The folders of all packages that npm installs with keyledger: those that are not only for development. */
function neededPackages(): string[] {
  const Lock = z.object({ packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })) })
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')))
  return Object.entries(packages)
    .filter(([path, { dev }]) => dev !== true && path.lastIndexOf('node_modules/') === 0)
    .map(([path]) => path)
    .filter((path) => existsSync(join(repository, path)))
}
