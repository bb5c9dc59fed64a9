import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'

/** Whom a form was shown to: a signed-in person, or the browser of a visitor. */
type FormOwner = { tenantId: string; kind: 'session' | 'browser'; secret: string }

/** Makes and checks the token in each form, which another site cannot know. */
export type FormTokens = {
  make(owner: FormOwner): string
  isValid(owner: FormOwner, token: unknown): boolean
}

export function formTokens(key: KeyObject): FormTokens {
  const make = ({ tenantId, kind, secret }: FormOwner): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(['portal form', tenantId, kind, secret]))
      .digest('base64url')
  return {
    make,
    isValid(owner, token) {
      const wanted = Buffer.from(make(owner))
      const given = Buffer.from(typeof token === 'string' ? token : '')
      return wanted.length === given.length && timingSafeEqual(wanted, given)
    },
  }
}
