// Runs before the page: every <style> that a library makes gets the nonce of this page at its
// creation, because the policy of the page refuses one that is inserted without.
const nonce = document.querySelector('meta[name="cuff-nonce"]')?.getAttribute('content') ?? '';
const create = document.createElement;

document.createElement = function made(this: Document, ...args: Parameters<typeof create>) {
  const element = create.apply(this, args);
  if (args[0].toLowerCase() === 'style') element.setAttribute('nonce', nonce);
  return element;
} as typeof create;
