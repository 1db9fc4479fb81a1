const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The page never makes HTML, scripts or styles of text. A browser then refuses it also to code that wants to.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

const SWITCHED_OFF = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'serial', 'usb'];

/** All answers of the page's server have these headers, unless they have their own. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY.join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': SWITCHED_OFF.map(feature => `${feature}=()`).join(', '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
};
