import type { FastifyReply } from 'fastify'
import { may, type Right } from '../../domain/members/roles.ts'
import { documentOf, type Html, partOf } from '../../html.ts'
import type { Ports } from '../../ports.ts'
import { type FilledForm, isWrong } from '../forms/filled-form.ts'
import { formToken } from '../session/session.ts'
import { type Frame, frame } from './frame.ts'
import { type Crumb, crumbOf, type NavItem } from './navigation.ts'

/** What every view receives. */
export type View = {
  /** The form token; every form contains it. */
  token: string
  now: Date
  /** The base of the API's URLs. */
  baseUrl: string
  /** Whether the member has a right: links and buttons that need one are shown only with it. */
  may: (right: Right) => boolean
}

type Page = {
  title: string
  /** The entry of the navigation that is highlighted. */
  nav?: NavItem | undefined
  /** The pages above this one. Without it: the page of the navigation, for every page below that. */
  trail?: readonly Crumb[]
  content: (view: View) => Html
  /** The form on the page, as it was filled in. */
  form?: FilledForm
  /** What is wrong with what was sent. With a problem, here or in the form, the page has the status 422. */
  problem?: unknown
}

/** Sends a part of a page, which htmx puts in place of the old one. */
export type ShowPart = (reply: FastifyReply, content: (view: View) => Html) => FastifyReply

/** Sends a page; with a status that does not follow from it, such as 404. */
export type ShowPage = (reply: FastifyReply, page: Page, status?: number) => FastifyReply

export function partsOf(ports: Ports<'now'>, baseUrl: string): ShowPart {
  return (reply, content) =>
    reply.type('text/html; charset=utf-8').send(partOf(content(viewFor(reply, ports, baseUrl))))
}

function viewFor(reply: FastifyReply, ports: Ports<'now'>, baseUrl: string): View {
  const role = reply.request.principal?.role
  return {
    token: formToken(reply),
    now: ports.now(),
    baseUrl,
    may: (right) => role !== undefined && may(role, right),
  }
}

/** Returns the function that sends pages: within the frame for a signed-in member, otherwise without it. */
export function pagesOf(ports: Ports<'now' | 'mailing'>, baseUrl: string): ShowPage {
  const hasMailbox = ports.mailing.mailbox !== undefined
  return (reply, { title, nav, trail, content, form, problem }, status) => {
    const { principal, session, freshness, waiting } = reply.request
    const view = viewFor(reply, ports, baseUrl)
    const notice = session?.notice
    if (notice) session.notice = undefined
    const above = trail ?? trailTo(nav, reply.request.url)
    const parts: Frame = {
      title,
      nav,
      trail: above,
      notice,
      principal,
      hasMailbox,
      freshness,
      waiting,
      token: view.token,
    }
    return reply
      .code(status ?? (problem !== undefined || (form && isWrong(form)) ? 422 : 200))
      .type('text/html; charset=utf-8')
      .send(documentOf(frame(parts, content(view))))
  }
}

function trailTo(nav: NavItem | undefined, url: string): Crumb[] {
  const above = nav && crumbOf(nav)
  const [path] = url.split('?')
  return above === undefined || above.href === path?.replace(/\/$/, '') ? [] : [above]
}
