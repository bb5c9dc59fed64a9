import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sendProblem } from '../errors.ts'
import { notFound } from '../problem.ts'

const require = createRequire(import.meta.url)
const own = fileURLToPath(new URL('./assets', import.meta.url))

const files = {
  style: join(own, 'dashboard.css'),
  script: join(own, 'dashboard.js'),
  icon: join(own, 'icon.svg'),
  htmx: join(dirname(require.resolve('htmx.org')), 'htmx.min.js'),
  passkeys: join(dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js'),
} as const

export const assetsRoot = '/assets'

/** A path of its own for every version of the files, so that browsers may keep what they have for ever. */
const prefix = `/${versionOf(Object.values(files))}/`

function versionOf(paths: readonly string[]): string {
  const digest = createHash('sha256')
  for (const path of paths) digest.update(readFileSync(path))
  return digest.digest('base64url').slice(0, 16)
}

/** Where each file is served. */
export const assets = Object.fromEntries(
  Object.entries(files).map(([name, path]) => [name, assetsRoot + prefix + basename(path)]),
) as Record<keyof typeof files, string>

/** @returns the mark of keyledger, an SVG */
export const readIcon = (): Buffer => readFileSync(files.icon)

const served: ReadonlySet<string> = new Set(Object.values(files).map((path) => `/${basename(path)}`))

/** Serves the files that pages refer to, and no others of the folders that they lie in. */
export async function serveAssets(app: FastifyInstance): Promise<void> {
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFound('file')))
  await app.register(fastifyStatic, {
    root: [...new Set(Object.values(files).map(dirname))],
    prefix,
    allowedPath: (path) => served.has(path),
    index: false,
    decorateReply: false,
    maxAge: '365d',
    immutable: true,
  })
}
