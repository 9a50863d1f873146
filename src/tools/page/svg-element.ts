import type { Shape } from '../timeline/drawing.js';

const SVG = 'http://www.w3.org/2000/svg';

/** Creates the element of a shape. Texts are set as text, never as markup. */
export const svgElement = ({ tag, attributes, text }: Shape): SVGElement => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  if (text !== undefined) element.textContent = text;
  return element;
};

export const svgPicture = (className: string): SVGSVGElement => {
  const picture = document.createElementNS(SVG, 'svg');
  picture.setAttribute('class', `timeline ${className}`);
  return picture;
};
