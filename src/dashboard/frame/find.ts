import { type Html, html } from '../../html.ts'
import { tokenField } from './parts.ts'

/**
 * The search of every page. The text may be a license key, so it is sent as a form and is no part of a URL. With
 * JavaScript the key `/` leads here.
 */
export const findBox = (token: string): Html => html`<form
  class="find"
  method="post"
  action="/dashboard/search"
  role="search"
>
  ${tokenField(token)}
  <label class="unseen" for="search">Find a license</label>
  <input
    id="search"
    name="text"
    type="text"
    maxlength="500"
    autocomplete="off"
    spellcheck=${false}
    placeholder="Find: key, name, email, order, device…"
    aria-keyshortcuts="/"
    title="Press / to search"
  />
  <button class="second">Search</button>
</form>`
