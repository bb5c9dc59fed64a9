import type { RefusalCode } from '../domain/refusal.ts'

/** The kinds of errors of RFC 7644, section 3.12, that keyledger answers. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness'

const typeOf: Partial<Record<string, ScimType>> = {
  member_exists: 'uniqueness',
  scim_group_exists: 'uniqueness',
  scim_member_unknown: 'invalidValue',
  validation_failed: 'invalidSyntax',
} satisfies Partial<Record<RefusalCode | 'validation_failed', ScimType>>

/** Where directories call. */
export const scimPath = '/scim/v2'

/** Whether a URL is one of the interface for directories, whose errors have the form of SCIM. */
export const isScimPath = (url: string): boolean => url.startsWith(scimPath)

export const scimMediaType = 'application/scim+json'

type Wrong = { status: number; message: string; errorCode: string; details: object }

/** The body of an error by RFC 7644. */
export function scimErrorOf({ status, message, errorCode, details }: Wrong): object {
  const scimType = typeOf[errorCode]
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType && { scimType }),
    ...details,
    detail: message,
  }
}
