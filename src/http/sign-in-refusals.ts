import type { RefusalCode } from '../domain/refusal.ts'

/** The responses to refusals about the providers that members sign in with. */
export const signInRefusals = {
  sign_in_provider_exists: [409, 'a sign-in provider with this id already exists; choose another id'],
  sign_in_provider_not_found: [404, 'sign-in provider not found'],
  sign_in_provider_limit: [409, 'a workspace has at most 10 sign-in providers; delete one first'],
  sign_in_issuer_taken: [
    409,
    'the workspace already has a sign-in provider with this issuer; change that one',
  ],
  sign_in_issuer_not_allowed: [
    422,
    'the issuer must be an https URL with a public address, without credentials, query and fragment',
  ],
  sign_in_provider_wanted: [409, 'the workspace has no sign-in provider; add one first'],
} satisfies Partial<Record<RefusalCode, [status: number, message: string]>>
