import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { sendProblem } from '../http/errors.ts'
import { iconFile } from '../http/icon/icon.ts'
import { notFound } from '../http/problem.ts'
import { readStyles } from './styles.ts'

const require = createRequire(import.meta.url)
const own = fileURLToPath(new URL('./assets', import.meta.url))

const style = readStyles()

const files = {
  script: join(own, 'dashboard.js'),
  icon: iconFile,
  htmx: join(dirname(require.resolve('htmx.org')), 'htmx.min.js'),
  passkeys: join(dirname(require.resolve('@simplewebauthn/browser')), '../dist/bundle/index.umd.min.js'),
} as const

export const assetsRoot = '/assets'

/** The path contains a hash of the files, so that browsers may cache them indefinitely. */
const prefix = `/${versionOf([style, ...Object.values(files).map((path) => readFileSync(path))])}/`

function versionOf(contents: readonly (string | Buffer)[]): string {
  const digest = createHash('sha256')
  for (const content of contents) digest.update(content)
  return digest.digest('base64url').slice(0, 16)
}

const stylePath = `${prefix}dashboard.css`

/** The URL of each file. */
export const assets = {
  style: assetsRoot + stylePath,
  ...(Object.fromEntries(
    Object.entries(files).map(([name, path]) => [name, assetsRoot + prefix + basename(path)]),
  ) as Record<keyof typeof files, string>),
}

const served: ReadonlySet<string> = new Set(Object.values(files).map((path) => `/${basename(path)}`))

/** Serves exactly the files that pages refer to. */
export async function serveAssets(app: FastifyInstance): Promise<void> {
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, notFound('file')))
  app.get(stylePath, { schema: { hide: true } }, (_request, reply) =>
    reply
      .headers({ 'cache-control': 'public, max-age=31536000, immutable' })
      .type('text/css; charset=utf-8')
      .send(style),
  )
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
