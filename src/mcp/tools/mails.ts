import { z } from 'zod'
import { operations } from '../../description/operations.ts'
import { customerId, licenseId, page, productId } from '../arguments.ts'
import { tool } from '../tool.ts'

const place = {
  kind: z.enum(operations.setMailTemplate.body.kind.choices).describe('Which mail'),
  productId: productId.nullable().optional().describe('The product; left out for all products'),
  language: z
    .string()
    .max(16)
    .nullable()
    .optional()
    .describe('The language of the customer; left out for every language'),
}

const texts = {
  subject: z.string().min(1).max(300).describe('One line, with placeholders such as {{product_name}}'),
  text: z.string().min(1).max(20_000).describe('The plain text, with placeholders'),
  html: z
    .string()
    .max(50_000)
    .nullable()
    .optional()
    .describe('HTML of its own; left out for the text in the built-in frame'),
}

const tag = z.string().max(16).describe('The tag of the language: fr, or pt-BR with a region')

/** How the workspace words its mails, in which languages, and what became of those that were sent. */
export const mailTools = [
  tool({
    name: 'list_mails',
    operation: 'listMails',
    title: 'List mails about licenses',
    description:
      'Returns the mails to holders of licenses with every attempt, bounce and complaint, newest first. Use it when a ' +
      'customer got no mail.',
    effect: 'reads',
    input: {
      status: z.enum(operations.listMails.query.status.choices).optional(),
      bounce: z.enum(operations.listMails.query.bounce.choices).optional(),
      licenseId: licenseId.optional(),
      customerId: customerId.optional(),
      ...page,
    },
    names: { licenseId: 'license', customerId: 'customer' },
  }),
  tool({
    name: 'list_mail_templates',
    operation: 'listMailTemplates',
    title: 'List the texts of mails',
    description:
      "Returns the workspace's own texts of mails, by mail, product and language. Other mails have built-in texts.",
    effect: 'reads',
    input: {},
  }),
  tool({
    name: 'preview_mail',
    operation: 'previewMail',
    title: 'Show a mail as it would be sent',
    description:
      'Returns a mail with made-up values: as it is sent now, or with `template`, which is not saved. Use it before set_mail_template.',
    effect: 'reads',
    input: { ...place, template: z.strictObject(texts).nullable().optional() },
  }),
  tool({
    name: 'set_mail_template',
    operation: 'setMailTemplate',
    title: 'Write the text of a mail',
    description:
      'Saves the text of a mail, for one product or all, in one language or every. Placeholders that the mail does not have are refused.',
    effect: 'changes',
    input: { ...place, ...texts },
  }),
  tool({
    name: 'remove_mail_template',
    operation: 'removeMailTemplate',
    title: 'Remove the text of a mail',
    description: 'Removes a text, so that the mail has the next one that fits, or the built-in one.',
    effect: 'changes',
    input: {
      templateId: z.string().max(200).describe('The id of the text, as list_mail_templates shows it'),
    },
  }),
  tool({
    name: 'list_portal_languages',
    operation: 'listPortalLanguages',
    title: 'List the languages of the portal',
    description:
      'Returns the languages of the customer portal and of mails, with how many texts each lacks. Those texts are in English.',
    effect: 'reads',
    input: {},
  }),
  tool({
    name: 'get_portal_language',
    operation: 'getPortalLanguage',
    title: 'Read the texts of a language',
    description:
      'Returns the texts of a language by name. Use it with `en` before you translate the portal: those are all texts there are.',
    effect: 'reads',
    input: { tag },
  }),
  tool({
    name: 'set_portal_language',
    operation: 'setPortalLanguage',
    title: 'Add a language, or replace its texts',
    description:
      'Adds a translation of the texts of `en`, or replaces all texts of a language that was added. Words in braces are kept as they are; ' +
      'texts that are left out are in English.',
    effect: 'changes',
    input: {
      tag,
      name: z
        .string()
        .min(1)
        .max(60)
        .describe('What the language is called in that language, such as Français'),
      texts: z
        .record(z.string(), z.string())
        .describe('The texts by name, as get_portal_language shows them'),
    },
  }),
  tool({
    name: 'remove_portal_language',
    operation: 'removePortalLanguage',
    title: 'Remove a language of the portal',
    description: 'Removes a language that was added. Its customers get pages and mails in another language.',
    effect: 'changes',
    input: { tag },
  }),
]
