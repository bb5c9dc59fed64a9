/**
 * Guarantee: the image built from infra/Dockerfile is small, runs as an unprivileged user on a read-only root file
 * system, writes only to its data directory, and contains a list of its packages.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ImageName } from 'testcontainers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { engineOfRun } from '../harness/container-engine.ts'
import { buildImage, root } from './programs.ts'

const tag = 'localhost/keyledger-test:image'
const engine = await engineOfRun()
const { container: containers, image: stored } = engine.client
const { dockerode } = containers

beforeAll(() => buildImage(tag))
afterAll(async () => {
  await engine.close()
})

const Image = z.looseObject({
  Size: z.number(),
  Config: z.looseObject({
    User: z.string(),
    Entrypoint: z.array(z.string()),
    Volumes: z.record(z.string(), z.unknown()),
  }),
})

test('is under 250 MB, and runs as an unprivileged user', async () => {
  const { Size, Config } = Image.parse(await stored.inspect(ImageName.fromString(tag)))
  expect(Size).toBeLessThan(250e6)
  expect(Config).toMatchObject({ User: '1000:1000', Entrypoint: ['keyledger'] })
  expect(Object.keys(Config.Volumes)).toStrictEqual(['/var/lib/keyledger'])
})

test('lists its packages, and contains no development dependency', async () => {
  const container = await startIdle()
  const { output } = await containers.exec(container, ['node', '--print', listing])
  const { sbom, packages, programs } = Listing.parse(JSON.parse(output))
  expect(programs).toStrictEqual(['keyledger', 'node'])
  const Manifest = z.looseObject({
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')))
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(sbom).toContain(`${name}@${version}`)
    expect(packages).toContain(name)
  }
  for (const name of Object.keys(manifest.devDependencies)) {
    expect(sbom.some((one) => one.startsWith(`${name}@`))).toBe(packages.includes(name))
  }
  for (const name of ['vitest', 'typescript', 'oxlint']) expect(packages).not.toContain(name)
})

test('loads its native packages and serves the command without a writable root', async () => {
  const container = await startIdle()
  const hashed = await containers.exec(container, ['node', '--print', hashing])
  expect(hashed.output).toMatch(/^\$argon2id\$/)
  expect(await containers.exec(container, ['keyledger', '--version'])).toMatchObject({ exitCode: 0 })
  const wrote = await containers.exec(container, ['node', '--print', writing])
  expect(JSON.parse(wrote.output)).toStrictEqual({
    '/app': 'EROFS',
    '/etc': 'EROFS',
    '/var/lib/keyledger': 'written',
  })
})

type Container = Awaited<ReturnType<typeof dockerode.createContainer>>

/** Code to run in the container, which has no shell. */
const hashing = `require('/app/node_modules/@node-rs/argon2').hashSync('secret')`
const listing = `
  const { globSync, readFileSync, readdirSync } = fs
  const { components } = JSON.parse(readFileSync('/app/sbom.cdx.json', 'utf8'))
  JSON.stringify({
    sbom: components.map(({ group, name, version }) => (group ? group + '/' : '') + name + '@' + version),
    packages: globSync('/app/node_modules/{@*/*,[!@]*}').map((path) => path.slice('/app/node_modules/'.length)),
    programs: readdirSync('/usr/local/bin').sort(),
  })`
const Listing = z.object({
  sbom: z.array(z.string()),
  packages: z.array(z.string()),
  programs: z.array(z.string()),
})
const writing = `
  const tried = (directory) => {
    try { fs.writeFileSync(directory + '/x', ''); return 'written' } catch ({ code }) { return code }
  }
  JSON.stringify(Object.fromEntries(['/app', '/etc', '/var/lib/keyledger'].map((d) => [d, tried(d)])))`

/** A container with a read-only root file system that waits for commands. */
async function startIdle(): Promise<Container> {
  const container = await dockerode.createContainer({
    Image: tag,
    Entrypoint: ['node'],
    Cmd: ['--eval', 'setInterval(() => {}, 1000)'],
    Labels: engine.labels,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: { ReadonlyRootfs: true, CapDrop: ['ALL'] },
  })
  await container.start()
  return container
}
