import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about the portal of customers, its languages, and the mails to them. */
export const portalRefusals = {
  accent_not_readable: [
    422,
    'accentColor is too light to be read on a light page; choose one with a contrast of at least 4.5 to #f5f5f4',
  ],
  language_built_in: [
    409,
    'this language is built in and is neither replaced nor removed; change its texts with PUT /v1/portal',
  ],
  language_unknown: [
    422,
    'the portal does not have this language; choose one of GET /v1/portal/languages, or add it with PUT /v1/portal/languages/{tag}',
  ],
  too_many_languages: [409, 'a workspace can add 20 languages; remove one that you no longer need'],
  too_many_mail_templates: [
    409,
    'a workspace can have 200 mail templates; remove one that you no longer need',
  ],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
