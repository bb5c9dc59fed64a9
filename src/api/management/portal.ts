import { z } from 'zod'
import { findPortal, type ShownPortal } from '../../../projections/portal.ts'
import { changePortal, changePortalLogo } from '../../commands/portal.ts'
import { isColor } from '../../domain/portal/color.ts'
import { logoTypeOf, logoTypes, maxLogoBytes, PortalSettings } from '../../domain/portal/events.ts'
import { portalUrl } from '../../domain/portal/portal.ts'
import { isPortalTextKey, problemWithText } from '../../domain/portal/texts.ts'
import { EmailAddress, isStorable, text } from '../../domain/values.ts'
import { callerIn, originOf } from '../../http/authenticate.ts'
import { Problem } from '../../http/problem.ts'
import { answer, errors } from '../../http/schemas.ts'
import type { ZodApp } from '../../http/validation.ts'
import type { Ports } from '../../ports.ts'

const ownText = z.string().min(1).max(2000).refine(isStorable, 'must be well-formed text without NUL')

const textsIn = z.record(z.string().min(1).max(64), ownText).superRefine((texts, context) => {
  for (const [key, written] of Object.entries(texts)) {
    const message = isPortalTextKey(key)
      ? problemWithText(key, written)
      : 'no text of the portal has this name'
    if (message !== undefined) context.addIssue({ code: 'custom', path: [key], message })
  }
})

const portalIn = z
  .strictObject({
    enabled: PortalSettings.shape.enabled,
    name: text(200).nullable().default(null).meta({ description: 'null shows the name of the workspace' }),
    supportEmail: EmailAddress.nullable().default(null),
    accentColor: z
      .string()
      .toLowerCase()
      .refine(isColor, 'must be a color such as #0d5c4f')
      .nullable()
      .default(null)
      .meta({ description: 'Of links and buttons; it must be readable on a light page' }),
    texts: z
      .strictObject({
        en: textsIn.optional().meta({ description: 'The English texts, by name' }),
        de: textsIn.optional().meta({ description: 'The German texts, by name' }),
      })
      .default({})
      .meta({ description: 'Your own texts, by language and name; others are the built-in ones' }),
  })
  .meta({
    example: {
      enabled: true,
      name: 'Acme',
      supportEmail: 'support@acme.example',
      accentColor: '#0d5c4f',
      texts: { en: { licensesLead: 'Everything you bought from {vendor}.' } },
    },
  })

const portalOut = z.object({
  portal: PortalSettings.extend({
    url: z
      .string()
      .meta({ description: 'Where customers find it', example: 'https://licenses.acme.example/portal/acme' }),
    logo: z
      .object({
        type: z.enum(logoTypes).meta({ description: 'The type of the picture', example: 'image/png' }),
      })
      .nullable()
      .meta({ description: 'The logo that is shown; null without one' }),
  }).meta({ id: 'Portal', description: 'The settings of the customer portal' }),
})

const logoIn = z
  .strictObject({
    data: z
      .base64()
      .min(1)
      .max(Math.ceil(maxLogoBytes / 3) * 4)
      .meta({ description: 'The bytes of the picture, in base64' }),
  })
  .meta({ description: 'A PNG, JPEG or WebP picture of up to 100 kB, in base64' })

const described =
  'The portal is where your customers see their licenses, remove a device and get their key again: ' +
  '`/portal/{tenantId}` of this server. It is off until you turn it on.'

const viewAt =
  (baseUrl: string) =>
  (tenantId: string, { settings, logo }: ShownPortal) => ({
    portal: { ...settings, url: portalUrl(baseUrl, tenantId), logo: logo && { type: logo.type } },
  })

type PortalPorts = Ports<'db' | 'execute' | 'now'>

/** The portal of the tenant's customers. */
export function portalRoutes(app: ZodApp, ports: PortalPorts, baseUrl: string): void {
  const view = viewAt(baseUrl)

  app.get(
    '/v1/portal',
    {
      config: { scope: 'products:read' },
      schema: {
        operationId: 'getPortal',
        tags: ['Portal'],
        summary: 'Read the settings of the customer portal',
        description: described,
        response: { 200: answer('The settings', portalOut), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return view(tenantId, await findPortal(ports.db, tenantId))
    },
  )

  app.put(
    '/v1/portal',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setPortal',
        tags: ['Portal'],
        summary: 'Set the customer portal; an omitted field returns to its default',
        description: described,
        body: portalIn,
        response: { 200: answer('The settings', portalOut), ...errors(400, 403, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return view(tenantId, await changePortal(ports, tenantId, request.body, originOf(request)))
    },
  )

  logoRoutes(app, ports, baseUrl)
}

function logoRoutes(app: ZodApp, ports: PortalPorts, baseUrl: string): void {
  const view = viewAt(baseUrl)

  app.put(
    '/v1/portal/logo',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'setPortalLogo',
        tags: ['Portal'],
        summary: 'Replace the logo of the customer portal',
        description: 'It is served from this server. SVG is refused, since it can hold scripts.',
        body: logoIn,
        response: { 200: answer('The settings', portalOut), ...errors(400, 403, 422) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const bytes = Buffer.from(request.body.data, 'base64')
      const type = logoTypeOf(bytes)
      if (type === undefined || bytes.length > maxLogoBytes)
        throw new Problem(
          422,
          'invalid_request',
          'the logo must be a PNG, JPEG or WebP picture of up to 100 kB',
        )
      const logo = { type, data: bytes.toString('base64') }
      return view(tenantId, await changePortalLogo(ports, tenantId, logo, originOf(request)))
    },
  )

  app.delete(
    '/v1/portal/logo',
    {
      config: { scope: 'products:write', dryRun: true },
      schema: {
        operationId: 'removePortalLogo',
        tags: ['Portal'],
        summary: 'Remove the logo of the customer portal',
        description: 'The portal then shows the name alone. Without a logo, nothing changes.',
        response: { 200: answer('The settings', portalOut, { portal: { logo: null } }), ...errors(403) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      return view(tenantId, await changePortalLogo(ports, tenantId, null, originOf(request)))
    },
  )
}
