import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { findLogo, type OpenPortal } from '../../projections/portal.ts'
import { accentOnDark } from '../domain/portal/color.ts'
import { readIcon } from '../http/icon/icon.ts'
import { notFound } from '../http/problem.ts'
import type { Ports } from '../ports.ts'
import { visitOf } from './visit.ts'

const style = ['portal.css', 'usage.css', 'viewing/viewing.css']
  .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n')
const icon = readIcon()
const versionOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 12)

export const stylePath = `/portal/style.css?v=${versionOf(style)}`
export const iconPath = `/portal/icon.svg?v=${versionOf(icon)}`

/** The style sheet with a vendor's own color. */
export const brandPath = ({ tenantId, settings }: OpenPortal): string =>
  `/portal/${tenantId}/brand.css?v=${versionOf(settings.accentColor ?? '')}`

/** The logo of a portal; null without one. */
export const logoPath = ({ tenantId, logo }: OpenPortal): string | null =>
  logo && `/portal/${tenantId}/logo?v=${logo.hash}`

/** Addresses name the version of what they lead to, so browsers may keep it. */
const kept = { 'cache-control': 'public, max-age=31536000, immutable' }

const asset = {
  config: { query: z.object({ v: z.string() }), inAnyViewing: true },
  schema: { hide: true },
} as const

/** Serves the style sheets and the logos, all from this server. */
export function serveAssets(app: FastifyInstance, ports: Ports<'db'>): void {
  app.get('/style.css', asset, (_request, reply) =>
    reply.headers(kept).type('text/css; charset=utf-8').send(style),
  )
  app.get('/icon.svg', asset, (_request, reply) => reply.headers(kept).type('image/svg+xml').send(icon))
  app.get('/:tenantId/brand.css', asset, (request, reply) =>
    reply
      .headers(kept)
      .type('text/css; charset=utf-8')
      .send(brandOf(visitOf(request).portal)),
  )
  app.get('/:tenantId/logo', asset, async (request, reply) => {
    const logo = await findLogo(ports.db, visitOf(request).tenantId)
    if (!logo) throw notFound('logo')
    return reply.headers(kept).type(logo.type).send(Buffer.from(logo.data, 'base64'))
  })
}

function brandOf({ settings: { accentColor } }: OpenPortal): string {
  if (accentColor === null) return ''
  return `:root { --accent: ${accentColor}; --accent-ink: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --accent: ${accentOnDark(accentColor)}; --accent-ink: #131316; }
}
`
}
