import type { Shape } from '../model/timeline/drawing.js';

const SVG = 'http://www.w3.org/2000/svg';

/** A shape as an element. Whatever its texts say, they are text. */
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
