import { z } from 'zod'
import { Moment, Slug } from '../values.ts'
import { isColor } from './color.ts'
import { LanguageTag } from './languages.ts'

/** The kinds of pictures that a logo may be. SVG is none of them: it can hold scripts and refer to other hosts. */
export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const
export type LogoType = (typeof logoTypes)[number]

export const maxLogoBytes = 100_000

const startsWith = (bytes: Uint8Array, start: readonly number[], from = 0): boolean =>
  start.every((byte, index) => bytes[from + index] === byte)

const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0))

/** The kind of a picture, by its first bytes and by nothing that its sender claims; undefined for any other file. */
export function logoTypeOf(bytes: Uint8Array): LogoType | undefined {
  if (startsWith(bytes, [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp'
  return undefined
}

const Texts = z.record(z.string().min(1).max(64), z.string().min(1).max(2000))

/** How the portal of a vendor looks, and whether it is open. */
export const PortalSettings = z.strictObject({
  enabled: z.boolean().meta({ description: 'Whether the portal is open to customers', example: true }),
  name: z.string().min(1).max(200).nullable().meta({
    description: 'What customers know the vendor by; null for the name of the workspace',
    example: 'Acme Software',
  }),
  supportEmail: z.string().max(254).nullable(),
  accentColor: z.string().refine(isColor, 'must be a color such as #0d5c4f').nullable().meta({
    description: 'The color of links and buttons; null for the usual one',
    example: '#0d5c4f',
  }),
  texts: z
    .strictObject({
      en: Texts.optional().meta({
        description: 'The English texts, by name; absent when all are the built-in ones',
        example: { licensesLead: 'Everything you bought from {vendor}.' },
      }),
      de: Texts.optional().meta({
        description: 'The German texts, by name; absent when all are the built-in ones',
      }),
    })
    .meta({
      description: "The vendor's own texts, by language and name; any other text is the built-in one",
    }),
})
export type PortalSettings = z.infer<typeof PortalSettings>

/** A picture, in base64. */
export const PortalLogo = z.strictObject({
  type: z.enum(logoTypes),
  data: z.base64().min(1).max(140_000),
})
export type PortalLogo = z.infer<typeof PortalLogo>

/** Everything a `portal-<tenant>` stream may hold. A recorded shape is never edited: add a new type. */
export const PortalEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('PortalSettingsChanged'),
    data: z.strictObject({ tenantId: Slug, settings: PortalSettings, at: Moment }),
  }),
  /** The logo was replaced; null removes it. */
  z.object({
    type: z.literal('PortalLogoChanged'),
    data: z.strictObject({ tenantId: Slug, logo: PortalLogo.nullable(), at: Moment }),
  }),
  /** A language was added, or its name and texts were replaced. */
  z.object({
    type: z.literal('LanguageAdded'),
    data: z.strictObject({
      tenantId: Slug,
      tag: LanguageTag,
      name: z.string().min(1).max(60),
      texts: Texts,
      at: Moment,
    }),
  }),
  z.object({
    type: z.literal('LanguageRemoved'),
    data: z.strictObject({ tenantId: Slug, tag: LanguageTag, at: Moment }),
  }),
])
export type PortalEvent = z.infer<typeof PortalEvent>
