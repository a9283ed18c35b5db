"use strict";
// Arithmetic: nothing here knows the page ---------------------------------------------------------------------------

// Columns of sixteen bits each, as Python packs them: rows one after another, NaN for what is not there.
function unpack(packed) {
  const text = atob(packed.data), n = packed.n, k = packed.low.length, values = new Float64Array(n * k);
  let at = 0;
  for (let j = 0; j < k; j++) {
    for (let i = 0; i < n; i++) {
      if (packed.step[j] === 0) { values[i * k + j] = packed.low[j]; continue; }
      const whole = text.charCodeAt(at) + 256 * text.charCodeAt(at + 1);
      at += 2;
      values[i * k + j] = whole === 65535 ? NaN : packed.low[j] + packed.step[j] * whole;
    }
  }
  return { n: n, k: k, values: values };
}

// The interval in which a time lies, and the share of it that has passed.
function locate(times, t) {
  let low = 0, high = times.length - 1;
  if (high < 1 || t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high - 1, 1];
  while (high - low > 1) { const middle = (low + high) >> 1; if (times[middle] <= t) low = middle; else high = middle; }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

// A row of a table between two of its rows; where one has nothing the other counts.
function between(table, row, share, out) {
  const k = table.k, first = row * k, next = Math.min(row + 1, table.n - 1) * k, v = table.values;
  for (let i = 0; i < k; i++) {
    const a = v[first + i], b = v[next + i];
    out[i] = a !== a ? (share > 0.5 ? b : a) : b !== b ? (share <= 0.5 ? a : b) : a + share * (b - a);
  }
  return out;
}

// Transforms are twelve numbers, the first three rows of a matrix; products of two, and of one with a point.
function times(a, b) {
  const c = new Array(12);
  for (let i = 0; i < 12; i += 4) for (let j = 0; j < 4; j++)
    c[i + j] = a[i] * b[j] + a[i + 1] * b[4 + j] + a[i + 2] * b[8 + j] + (j === 3 ? a[i + 3] : 0);
  return c;
}
function carried(a, p) { return [0, 4, 8].map(i => a[i] * p[0] + a[i + 1] * p[1] + a[i + 2] * p[2] + a[i + 3]); }

// exp(screw q): a turn about the unit vector `angular` (Rodrigues), and a slide along `linear`.
function moved(angular, linear, q) {
  const [x, y, z] = angular, c = Math.cos(q), s = Math.sin(q), v = 1 - c, turns = x * x + y * y + z * z > 0.5;
  const r = turns ? [c + x * x * v, x * y * v - z * s, x * z * v + y * s, y * x * v + z * s, c + y * y * v, y * z * v - x * s, z * x * v - y * s, z * y * v + x * s, c + z * z * v] : [1, 0, 0, 0, 1, 0, 0, 0, 1];
  return [r[0], r[1], r[2], linear[0] * q, r[3], r[4], r[5], linear[1] * q, r[6], r[7], r[8], linear[2] * q];
}

// The value at q of a curve given by its first place, the step and samples; q itself without one.
function along(curve, q) {
  if (!curve.length) return q;
  const k = Math.max(0, Math.min((q - curve[0]) / curve[1], curve.length - 3)), i = Math.min(Math.floor(k), curve.length - 4);
  return curve[i + 2] + (k - i) * (curve[i + 3] - curve[i + 2]);
}

// Transforms of the links of a model, whose bodies know their coordinates q, or whose they follow.
function linksOf(model) {
  const frames = [];
  model.bodies.forEach((body, k) => {
    const lead = along(body.curve, model.bodies[body.leader].q);
    const here = times(times(body.before, moved(body.angular, body.linear, body.ratio * lead + body.offset)), body.after);
    frames.push(body.parent < 0 ? here : times(frames[body.parent], here));
  });
  return frames;
}

// World places of the points of a model.
function placed(model, out) {
  const frames = linksOf(model);
  model.points.forEach(([body, x, y, z], i) => {
    const p = body < 0 ? [x, y, z] : carried(frames[body], [x, y, z]);
    out[3 * i] = p[0]; out[3 * i + 1] = p[1]; out[3 * i + 2] = p[2];
  });
  return out;
}

// Unit vectors of who looks from a turn about the vertical and a tilt above the floor: right, up, towards the eye.
function axesOf(up, turn, tilt) {
  const a = (up + 1) % 3, b = (up + 2) % 3, eye = [0, 0, 0], right = [0, 0, 0];
  eye[a] = Math.cos(tilt) * Math.cos(turn); eye[b] = Math.cos(tilt) * Math.sin(turn); eye[up] = Math.sin(tilt);
  right[a] = -Math.sin(turn); right[b] = Math.cos(turn);
  const [x, y, z] = eye, [r, s, t] = right;
  return { eye: eye, right: right, above: [y * t - z * s, z * r - x * t, x * s - y * r] };
}

// A round number near a size: 1, 2 or 5 times a power of ten.
function roundStep(size) {
  const power = Math.pow(10, Math.floor(Math.log10(size))), rest = size / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}
function ticks(low, high, count) {
  const step = roundStep((high - low) / count), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(k * step);
  return [out, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
}

// Outline of two discs together, in a plane, as points around it.
function hull(px, py, qx, qy, a, b, corners) {
  const dx = qx - px, dy = qy - py, d = Math.hypot(dx, dy), out = [];
  const arc = (x, y, r, from, to) => { for (let k = 0; k <= corners; k++) { const t = from + (to - from) * k / corners; out.push(x + r * Math.cos(t), y + r * Math.sin(t)); } };
  if (d <= Math.abs(a - b) + 1e-9) arc(a > b ? px : qx, a > b ? py : qy, Math.max(a, b), 0, 2 * Math.PI);
  else {
    const along = Math.atan2(dy, dx), bend = Math.acos((a - b) / d);
    arc(px, py, a, along + bend, along + 2 * Math.PI - bend);
    arc(qx, qy, b, along - bend, along + bend);
  }
  return out;
}

// A face in patches no longer than `longest`: of four corners a grid, others as they are.
function patches(corners, longest) {
  if (corners.length !== 4) return [corners];
  const [a, b, c, d] = corners, length = (p, q) => Math.hypot(...p.map((x, i) => q[i] - x)), out = [];
  const n = Math.min(12, Math.ceil(length(a, b) / longest)), m = Math.min(12, Math.ceil(length(a, d) / longest));
  const at = (u, v) => a.map((x, i) => (1 - u) * (1 - v) * x + u * (1 - v) * b[i] + u * v * c[i] + (1 - u) * v * d[i]);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++)
    out.push([at(i / n, j / m), at((i + 1) / n, j / m), at((i + 1) / n, (j + 1) / m), at(i / n, (j + 1) / m)]);
  return out;
}

if (typeof module !== "undefined") module.exports = { unpack, locate, between, times, moved, placed, axesOf, roundStep, ticks, hull, patches };
if (typeof document !== "undefined") start();

function start() {
// The scene -----------------------------------------------------------------------------------------------------------

const get = id => document.getElementById(id), root = document.documentElement;
const scene = JSON.parse(get("data").textContent), model = scene.model, up = scene.up, size = scene.size;
const side1 = (up + 1) % 3, side2 = (up + 2) % 3;
// Okabe and Ito's colours and two more, as in viewer.css, brighter on dark ground.
const COLORS = 8;
const LOOKS = {
  light: { link: "#b4bfcc", right: "#4f8fc0", left: "#dc8a5a", joint: "#4d5c70", rail: "#8d98a6", tip: "#e07b39", marker: "#e0a528", base: "#3b4653", obstacle: "#b9b2a6", shape: "#56b4e9", fog: [236, 239, 243], N: "#00936b", Nm: "#a0559b", line: "110,122,138", levels: ["#5b6fb5", "#d81e2c"], label: "#1d2530", halo: "#f7f8fa", palette: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a6bd1", "#8c6d4f"] },
  dark: { link: "#a3b0c0", right: "#5f9fd0", left: "#e0915f", joint: "#64758b", rail: "#76828f", tip: "#e98a4b", marker: "#e8b23f", base: "#566374", obstacle: "#7d776d", shape: "#56b4e9", fog: [19, 23, 29], N: "#2cc296", Nm: "#d089cb", line: "130,145,165", levels: ["#7d90d8", "#ff4b4b"], label: "#e6eaf0", halo: "#14181e", palette: ["#3d97d3", "#ea7a3b", "#27b98c", "#dd93bd", "#ecb240", "#84ccf2", "#9f93ee", "#b8956f"] },
};
const DASHES = [["solid", []], ["dashed", [7, 3]], ["dotted", [2, 3]]];
let look = LOOKS.light;

const takes = scene.recordings.map((recording, number) => {
  const segments = recording.segments.map(s => {
    const t = unpack(s.t).values;
    return Object.assign({}, s, {
      t: t, points: unpack(s.points), frames: s.frames && unpack(s.frames), groups: s.groups.map(g => Object.assign({}, g, { values: unpack(g.values) })),
      arrows: s.arrows.map(a => Object.assign({}, a, { rows: unpack(a.rows) })),
      polylines: s.polylines.map(a => Object.assign({}, a, { rows: unpack(a.rows) })),
      bars: s.bars.map(([p, q, a, b, what, joint]) => ({ p: p, q: q, a: a, b: b, what: what, joint: joint })),
      faces: s.faces.map(([points, what]) => ({ points: points, what: what })),
    });
  });
  const last = segments[segments.length - 1].t;
  const all = segments.reduce((list, s) => list.concat(Array.from(s.t)), []);
  return Object.assign({}, recording, {
    segments: segments, end: last[last.length - 1], t: all, number: number, shown: true,
    track: recording.track && unpack(recording.track),
    paths: recording.paths.map(path => ({ name: path.name, points: unpack(path.points) })),
  });
});
// Of a series, the steps of a solve to its answer, one is seen at a time; the others may be seen faintly behind it.
const series = scene.series ? takes : [], newest = takes[takes.length - 1];
const solid = takes.filter(take => !take.ghost), many = solid.length > 1 && !series.length;
let lead = series.length ? newest : takes[0];
const inTurn = take => series.length > 0 && take !== lead, faint = take => take.ghost || inTurn(take);
let total = series.length ? lead.end : Math.max(...solid.map(take => take.end));
const plays = solid.some(take => take.end > 0);
const shift = !many && lead.shift;
const factor = scene.slow || (total > 0.999 ? 1 : Math.round(3 / Math.max(total, 1e-3)));
const painter = (scene.meshes || []).length ? meshPainter() : null, meshes = painter ? meshParts(painter, scene.meshes) : [];
const MESHED = new Set(["link", "right", "left", "joint", "rail", "tip", "base", "obstacle"]);  // what meshes stand for
const layers = { meshes: true, shadows: true, grid: true, paths: true, forces: true, muscles: true, shapes: true, ghosts: true, markers: !meshes.length, joints: false, steps: false, beside: false, rate: true };
const joints = Array.from(new Set(takes.reduce((list, take) => list.concat(...take.segments.map(s => s.joints)), [])));
const colorful = joints.length <= COLORS && !many;
const swatch = number => "var(--c" + number + ")";  // the same colour, for elements
let time = 0, laps = 0, playing = plays && !matchMedia("(prefers-reduced-motion: reduce)").matches, dirty = true;
const eye = { turn: 0, tilt: 0, zoom: 1, x: 0, y: 0, fit: 1 };

// Where takes stand when they stand beside each other: along what is to the right in the first view.
const first = firstView();
const beside = (() => {
  const right = axesOf(up, first.turn, 0).right, axis = Math.abs(right[side1]) > Math.abs(right[side2]) ? side1 : side2;
  const wide = Math.max(...takes.map(take => take.high[axis] - take.low[axis])) + 0.35 * size, out = [0, 0, 0];
  out[axis] = Math.sign(right[axis]) * wide;
  return out;
})();
function offset(take) {
  const place = take.ghost ? 0 : solid.indexOf(take), steps = layers.beside ? place - (solid.length - 1) / 2 : 0;
  return [0, 1, 2].map(i => steps * beside[i] + (shift ? laps * shift[i] : 0));
}

function firstView() {
  const [right, above] = scene.plane || [];
  const ahead = lead.shift || (lead.track && [0, 1, 2].map(i => lead.track.values[lead.track.values.length - 3 + i] - lead.track.values[i]));
  if (scene.plane && right !== up && above !== up) return { turn: right === side2 ? 0 : -Math.PI / 2, tilt: 1.12 };
  if (scene.plane || ahead) {
    const r = [0, 0, 0];
    if (scene.plane) r[right === up ? above : right] = 1; else { r[side1] = ahead[side1]; r[side2] = ahead[side2]; }
    return { turn: Math.atan2(-r[side1], r[side2]) + (scene.plane ? 0.32 : 0.45), tilt: scene.plane ? 0.16 : 0.15 };
  }
  return { turn: 0.75, tilt: 0.3 };
}

// Box of all that is to be seen, relative to what the camera follows.
function box() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (const take of series.length ? [takes[0], newest] : takes) {  // those between may go anywhere
    const by = offset(take), lap = shift ? laps : 0;
    for (let i = 0; i < 3; i++) {
      const o = by[i] - (shift ? lap * shift[i] : 0);
      low[i] = Math.min(low[i], take.low[i] + o); high[i] = Math.max(high[i], take.high[i] + o);
    }
  }
  low[up] = Math.min(low[up], Math.max(scene.floor, low[up] - size));
  return [low, high];
}

function target() {
  const [low, high] = box(), out = [0, 1, 2].map(i => (low[i] + high[i]) / 2);
  if (lead.track) {
    const [row, share] = locate(lead.t, Math.min(time, lead.end)), at = between(lead.track, row, share, [0, 0, 0]);
    for (let i = 0; i < 3; i++) out[i] += at[i] + (shift ? laps * shift[i] : 0);
  }
  return out;
}

function refit() {
  const [low, high] = box(), axes = axesOf(up, eye.turn, eye.tilt), pad = 0.07 * size;
  const far = eye.far = 5 * Math.max(Math.hypot(...[0, 1, 2].map(i => high[i] - low[i])) / 2, 0.5 * size);
  let wide = 0, tall = 0;
  for (let corner = 0; corner < 8; corner++) {
    const d = [0, 1, 2].map(i => (corner >> i & 1 ? 0.5 : -0.5) * (high[i] - low[i])), nearer = far / (far - dot(d, axes.eye));
    wide = Math.max(wide, nearer * Math.abs(dot(d, axes.right)) + pad); tall = Math.max(tall, nearer * Math.abs(dot(d, axes.above)) + pad);
  }
  const canvas = get("scene");
  eye.fit = 0.46 * Math.min(canvas.clientWidth / wide, canvas.clientHeight / tall);
  dirty = true;
}
function dot(a, b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

let lens = null;
function aim(width, height) {
  const axes = axesOf(up, eye.turn, eye.tilt), middle = target(), scale = eye.fit * eye.zoom;
  lens = { axes: axes, middle: middle, scale: scale, x: width / 2 + eye.x, y: height / 2 + eye.y, far: eye.far };
}
function look3(x, y, z, out) {
  const { axes: { right: r, above: a, eye: e }, middle: m } = lens;
  x -= m[0]; y -= m[1]; z -= m[2];
  const depth = Math.max(lens.far - (e[0] * x + e[1] * y + e[2] * z), 0.05 * lens.far), f = lens.scale * lens.far / depth;
  out.x = lens.x + f * (r[0] * x + r[1] * y + r[2] * z);
  out.y = lens.y - f * (a[0] * x + a[1] * y + a[2] * z);
  out.f = f; out.depth = depth;
  return out;
}

// Colours: shades of a colour from its shadow to its light, and towards the background with distance ------------------

const shades = new Map();
const rgb = color => [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16));
function shade(color, light, fog) {
  const key = color + Math.round(light * 40) + "," + fog, known = shades.get(key);
  if (known) return known;
  const dark = [16, 22, 36], parts = rgb(color).map((c, i) => {
    const lit = light < 0.8 ? dark[i] + (c - dark[i]) * (0.3 + 0.7 * light / 0.8) : c + (255 - c) * (light - 0.8) * 1.9;
    return Math.round(lit + (look.fog[i] - lit) * fog * 0.02);
  });
  const made = "rgb(" + parts.join(",") + ")";
  shades.set(key, made);
  return made;
}
const LIGHT = (() => { const l = [-0.45, 0.62, 0.64], d = Math.hypot(...l); return l.map(x => x / d); })();
const ACROSS = [-1, -0.7, -0.3, 0.1, 0.5, 1];

// A tapered bar between two projected points, lit as a cone from above on the left.
function paintBar(c, p, q, ra, rb, color, fog, edge) {
  const a = ra * p.f, b = rb * q.f, dx = q.x - p.x, dy = q.y - p.y, d = Math.hypot(dx, dy);
  if (d <= Math.abs(a - b) + 0.01) { paintBall(c, a > b ? p : q, Math.max(a, b), color, fog, edge); return; }
  const along = Math.atan2(dy, dx), bend = Math.acos((a - b) / d);
  c.beginPath();
  c.arc(p.x, p.y, a, along + bend, along + 2 * Math.PI - bend);
  c.arc(q.x, q.y, b, along - bend, along + bend);
  c.closePath();
  const toEye = (p.depth - q.depth) * (p.f + q.f) / 2, length = Math.hypot(d, toEye), ve = toEye / length, flat = d / length;
  const sx = -dy / d, sy = dx / d, g = [-ve * dx / d, ve * dy / d, flat];
  const wide = Math.max(a, b), mx = (p.x + q.x) / 2, my = (p.y + q.y) / 2;
  const fill = c.createLinearGradient(mx - sx * wide, my - sy * wide, mx + sx * wide, my + sy * wide);
  const across = sx * LIGHT[0] - sy * LIGHT[1], facing = dot(g, LIGHT);
  for (const m of ACROSS) {
    const lambert = Math.max(0, m * across + Math.sqrt(1 - m * m) * facing);
    fill.addColorStop((m + 1) / 2, shade(color, 0.22 + 0.78 * lambert, fog));
  }
  c.fillStyle = fill;
  c.fill();
  if (edge) { c.strokeStyle = edge; c.stroke(); }
  const steep = Math.abs(ve);
  if (steep > 0.35) {  // the near end, which faces whoever looks along the bar
    const near = ve > 0 ? q : p, r = ve > 0 ? b : a;
    const whole = c.globalAlpha;
    c.globalAlpha = whole * Math.min(1, (steep - 0.35) / 0.4);
    paintBall(c, near, r, color, fog, "");
    c.globalAlpha = whole;
  }
}
function paintBall(c, p, r, color, fog, edge) {
  if (r < 0.2) return;
  const fill = c.createRadialGradient(p.x + 0.42 * r * LIGHT[0], p.y - 0.42 * r * LIGHT[1], 0.04 * r, p.x, p.y, r);
  fill.addColorStop(0, shade(color, 1, fog)); fill.addColorStop(0.55, shade(color, 0.72, fog)); fill.addColorStop(1, shade(color, 0.2, fog));
  c.beginPath(); c.arc(p.x, p.y, r, 0, 2 * Math.PI);
  c.fillStyle = fill; c.fill();
  if (edge) { c.strokeStyle = edge; c.stroke(); }
}

function paintPatch(c, spots, color, seamless) {
  c.beginPath();
  spots.forEach((spot, k) => k ? c.lineTo(spot.x, spot.y) : c.moveTo(spot.x, spot.y));
  c.closePath();
  c.fillStyle = color; c.fill();
  if (seamless) { c.strokeStyle = color; c.stroke(); }  // patches side by side leave no line between them
}

function paintArrow(c, p, q, color, heads) {
  const dx = q.x - p.x, dy = q.y - p.y, d = Math.hypot(dx, dy);
  if (d < 3) return;
  const ux = dx / d, uy = dy / d, head = Math.min(13, 0.55 * d), bx = q.x - ux * head, by = q.y - uy * head;
  for (const [ink, extra] of [[look.halo, 1.6], [color, 0]]) {
    c.strokeStyle = c.fillStyle = ink; c.lineJoin = c.lineCap = "round";
    c.lineWidth = 3 + 2 * extra;
    c.beginPath(); c.moveTo(p.x, p.y); c.lineTo(bx, by); c.stroke();
    for (let k = 0; k < heads; k++) {
      const x = q.x - 0.75 * k * head * ux, y = q.y - 0.75 * k * head * uy, fx = x - ux * head, fy = y - uy * head;
      c.beginPath(); c.moveTo(x, y); c.lineTo(fx - uy * head * 0.42, fy + ux * head * 0.42); c.lineTo(fx + uy * head * 0.42, fy - ux * head * 0.42); c.closePath();
      c.fill();
      if (extra) { c.lineWidth = 2 * extra; c.stroke(); }
    }
  }
}

function fitted(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2), w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  return [c, w, h];
}

// The picture -----------------------------------------------------------------------------------------------------------

function grid(c) {
  if (eye.tilt < 0.01) return;
  const [low, high] = box(), reach = 1.6 * Math.max(high[side1] - low[side1], high[side2] - low[side2], 1.2 * size);
  const step = roundStep(reach / 7), n = Math.ceil(reach / step), here = lens.middle, from = {}, to = {}, levels = 7;
  const x0 = Math.round(here[side1] / step), y0 = Math.round(here[side2] / step), paths = Array.from({ length: levels }, () => new Path2D());
  const place = [0, 0, 0];
  const at = (x, y, out) => { place[side1] = x; place[side2] = y; place[up] = scene.floor; return look3(...place, out); };
  for (let k = -n; k <= n; k++) for (let j = -n; j < n; j++) for (const flip of [false, true]) {
    const x = (x0 + (flip ? j + 0.5 : k)) * step, y = (y0 + (flip ? k : j + 0.5)) * step;
    const level = Math.floor((1 - Math.hypot(x - here[side1], y - here[side2]) / reach) * levels);
    if (level < 0) continue;
    if (flip) { at(x - step / 2, y, from); at(x + step / 2, y, to); } else { at(x, y - step / 2, from); at(x, y + step / 2, to); }
    paths[level].moveTo(from.x, from.y); paths[level].lineTo(to.x, to.y);
  }
  c.lineWidth = 1;
  paths.forEach((path, level) => { c.strokeStyle = "rgba(" + look.line + "," + (0.34 * (level + 0.6) / levels).toFixed(3) + ")"; c.stroke(path); });
}

function shadows(c, states) {
  if (eye.tilt < 0.01) return;
  const spot = {}, place = [0, 0, 0];
  for (const [grow, alpha] of [[0.026 * size, 0.028], [0.017 * size, 0.032], [0.008 * size, 0.036], [0, 0.05]]) {
    c.beginPath();
    for (const state of states) if (!faint(state.take)) for (const bar of state.segment.bars) {
      const p = 3 * bar.p, q = 3 * bar.q, at = state.points;
      if (!(at[p] === at[p] && at[q] === at[q]) || !visible(bar.what)) continue;
      const points = hull(at[p + side1], at[p + side2], at[q + side1], at[q + side2], bar.a + grow, bar.b + grow, 9);
      for (let k = 0; k < points.length; k += 2) {
        place[side1] = points[k]; place[side2] = points[k + 1]; place[up] = scene.floor;
        look3(...place, spot);
        if (k) c.lineTo(spot.x, spot.y); else c.moveTo(spot.x, spot.y);
      }
      c.closePath();
    }
    for (const state of grow ? [] : states) if (!faint(state.take)) for (const face of state.segment.faces) if (visible(face.what)) {
      const at = state.points, corners = face.points.map(k => [at[3 * k + side1], at[3 * k + side2]]);
      if (corners.some(([x]) => x !== x)) continue;
      // All the same way round, as those of bars, so that none takes away from another.
      const turn = corners.reduce((sum, [x, y], k) => { const [u, v] = corners[(k + 1) % corners.length]; return sum + x * v - y * u; }, 0);
      if (turn < 0) corners.reverse();
      corners.forEach(([x, y], k) => {
        place[side1] = x; place[side2] = y; place[up] = scene.floor;
        look3(...place, spot);
        if (k) c.lineTo(spot.x, spot.y); else c.moveTo(spot.x, spot.y);
      });
      c.closePath();
    }
    c.fillStyle = root.classList.contains("dark") ? "rgba(0,0,0," + 2.6 * alpha + ")" : "rgba(24,34,54," + alpha + ")";
    c.fill("nonzero");
  }
}
const meshed = () => meshes.length > 0 && layers.meshes && !painter.lost();
const drawnFlat = what => visible(what) && !(meshed() && MESHED.has(what));
function visible(what) { return what === "shape" ? layers.shapes : what === "marker" ? layers.markers : true; }

// A take at the time that is shown: its segment, and the places of its points in the world.
function stateOf(take) {
  const t = Math.min(time, take.end);
  let segment = take.segments[0];
  for (const other of take.segments) if (other.t[0] <= t) segment = other;
  const by = offset(take), points = take.state || (take.state = {});
  const out = points[segment.points.k] || (points[segment.points.k] = new Float64Array(segment.points.k));
  const [row, share] = locate(segment.t, t);
  if (model) placed(model, out); else between(segment.points, row, share, out);
  if (by[0] || by[1] || by[2]) for (let i = 0; i < out.length; i++) out[i] += by[i % 3];
  return { take: take, segment: segment, points: out, row: row, share: share, by: by };
}

// Meshes of takes where their links are, and what stands in the world.
function meshItems(states) {
  const items = [], ink = color => [...rgb(color).map(x => x / 255), 1], still = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
  for (const state of states) {
    const { take, segment, by } = state, links = model ? linksOf(model) : null;
    const rows = links ? model.links.flatMap(k => links[k]) : between(segment.frames, state.row, state.share, new Array(segment.frames.k));
    const shifted = f => f.map((x, i) => i % 4 === 3 ? x + by[(i - 3) / 4] : x);
    for (const mesh of meshes) {
      const frame = shifted(mesh.body < 0 ? still : rows.slice(12 * mesh.body, 12 * mesh.body + 12));
      items.push({ part: mesh.part, frame: frame, clear: faint(take) ? 0.2 : 1, color: many && !faint(take) ? ink(takeColor(take)) : null });
    }
    if (!segment.standing) segment.standing = painter.part(...standingMesh(segment, "obstacle", state.points.map((x, i) => x - by[i % 3])), [0, 0, 0, 255]);
    items.push({ part: segment.standing, frame: shifted(still), clear: faint(take) ? 0 : 1, color: ink(look.obstacle) });
  }
  return items;
}

function meshLayer(c, states, w, h, floor) {
  const items = meshItems(states.filter(state => state.segment.frames && !(floor && faint(state.take)))), ratio = c.canvas.width / w;
  c.save();
  if (floor) { c.filter = "blur(" + Math.min(12, 0.012 * size * lens.scale).toFixed(1) + "px)"; c.globalAlpha = root.classList.contains("dark") ? 0.45 : 0.2; }
  c.drawImage(painter.draw(w, h, ratio, lens, LIGHT, items, floor && { axis: up, height: scene.floor }), 0, 0, w, h);
  c.restore();
}

function ways(c, states) {
  c.lineJoin = "round";
  for (const { take, by } of states) take.paths.forEach((path, number) => {
    const { n, values: v } = path.points, spot = {};
    const color = many ? takeColor(take) : look.palette[(number + 3) % COLORS];
    for (const passed of faint(take) ? [false] : [false, true]) {
      c.beginPath();
      let pen = false;
      for (let k = 0; k < n && (!passed || take.t[k] <= time); k++) {
        if (v[3 * k] !== v[3 * k]) { pen = false; continue; }
        look3(v[3 * k] + by[0], v[3 * k + 1] + by[1], v[3 * k + 2] + by[2], spot);
        if (pen) c.lineTo(spot.x, spot.y); else c.moveTo(spot.x, spot.y);
        pen = true;
      }
      c.strokeStyle = color; c.globalAlpha = passed ? 0.85 : 0.28; c.lineWidth = passed ? 1.8 : 1.2;
      c.stroke();
    }
    c.globalAlpha = 1;
  });
}

function barColor(state, bar) {
  if (bar.what[0] === "#") return bar.what;
  if (bar.what === "joint" && colorful && bar.joint >= 0) return look.palette[joints.indexOf(state.segment.joints[bar.joint])];
  if (many && !faint(state.take) && (bar.what === "link" || bar.what === "left" || bar.what === "right")) return takeColor(state.take);
  return look[bar.what];
}

// From rest to full activation; the root, since most of what muscles do is done at a tenth of that.
function levelColor(level) {
  const [from, to] = look.levels.map(rgb), share = Math.round(16 * Math.sqrt(Math.max(0, Math.min(1, level)))) / 16;
  return "#" + from.map((x, i) => Math.round(x + share * (to[i] - x)).toString(16).padStart(2, "0")).join("");
}

// Muscles as pieces of thin bars, the thicker the more active.
function cordItems(state, items) {
  for (const cord of state.segment.polylines) {
    const row = cord.row || (cord.row = new Array(cord.rows.k)), o = state.by;
    between(cord.rows, state.row, state.share, row);
    const spots = [], thick = 0.005 * size * (1 + row[0]), color = levelColor(row[0]);
    for (let i = 1; i < row.length; i += 3) spots.push(look3(row[i] + o[0], row[i + 1] + o[1], row[i + 2] + o[2], {}));
    for (let k = 1; k < spots.length; k++) {
      const p = spots[k - 1], q = spots[k];
      items.push({ p: p, q: q, a: thick, b: thick, color: color, depth: (p.depth + q.depth) / 2 - 0.03 * size, clear: 1, edge: false });
    }
  }
}

function mean(list) { return list.reduce((sum, x) => sum + x, 0) / list.length; }
function clearness(state, part) { return faint(state.take) ? 0.2 : part.what === "shape" ? 0.32 : 1; }

// Faces that look this way, in patches small enough to be sorted by their distance.
function faceItems(state, items) {
  for (const face of state.segment.faces) {
    const at = state.points, corners = face.points.map(k => [at[3 * k], at[3 * k + 1], at[3 * k + 2]]);
    if (!drawnFlat(face.what) || corners.some(([x]) => x !== x)) continue;
    const normal = [0, 0, 0], [o] = corners;
    for (let k = 1; k + 1 < corners.length; k++) {
      const a = corners[k].map((x, i) => x - o[i]), b = corners[k + 1].map((x, i) => x - o[i]);
      for (let i = 0; i < 3; i++) normal[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
    }
    const long = Math.hypot(...normal) || 1, { axes, middle, far } = lens;
    if (dot(normal, [0, 1, 2].map(i => middle[i] + far * axes.eye[i] - o[i])) <= 0) continue;
    const lit = Math.max(0, dot([axes.right, axes.above, axes.eye].map(axis => dot(normal, axis) / long), LIGHT));
    const color = barColor(state, face), clear = clearness(state, face), whole = mean(corners.map(p => look3(...p, {}).depth));
    for (const patch of clear < 1 ? [corners] : patches(corners, 0.22 * size)) {
      const spots = patch.map(p => look3(...p, {}));
      items.push({ spots: spots, light: 0.42 + 0.58 * lit, color: color, depth: mean(spots.map(spot => spot.depth)), whole: whole, clear: clear });
    }
  }
}

function solids(c, states) {
  const items = [];
  let nearest = Infinity, furthest = -Infinity;
  for (const state of states) {
    const at = state.points, spots = [];
    const muscular = layers.muscles && state.segment.polylines.length > 0;
    if (muscular) cordItems(state, items);
    for (let i = 0; i < at.length; i += 3) spots.push(at[i] === at[i] ? look3(at[i], at[i + 1], at[i + 2], {}) : null);
    faceItems(state, items);
    for (const bar of state.segment.bars) {
      const p = spots[bar.p], q = spots[bar.q];
      if (!p || !q || !drawnFlat(bar.what)) continue;
      const clear = clearness(state, bar);
      const limb = bar.what === "left" || bar.what === "right", color = muscular && limb && !many ? look.link : barColor(state, bar);
      const long = Math.hypot(at[3 * bar.q] - at[3 * bar.p], at[3 * bar.q + 1] - at[3 * bar.p + 1], at[3 * bar.q + 2] - at[3 * bar.p + 2]);
      const pieces = clear < 1 ? 1 : Math.max(1, Math.min(12, Math.ceil(long / Math.max(0.4 * size, 3 * bar.a))));
      // Bones in place of limbs, where muscles lie upon them.
      const thin = muscular && bar.what !== "obstacle" && bar.what !== "base" ? 0.3 : 1;
      // Long bars are sorted in pieces, so that something may pass in front of one end and behind the other.
      let from = p, ra = thin * bar.a;
      for (let k = 1; k <= pieces; k++) {
        const u = k / pieces, to = k === pieces ? q : look3(...[0, 1, 2].map(i => at[3 * bar.p + i] + u * (at[3 * bar.q + i] - at[3 * bar.p + i])), {});
        const rb = thin * (bar.a + u * (bar.b - bar.a)), depth = (from.depth + to.depth) / 2;
        if (bar.what !== "obstacle") { nearest = Math.min(nearest, depth); furthest = Math.max(furthest, depth); }
        items.push({ p: from, q: to, a: ra, b: rb, color: color, depth: depth - (bar.what === "obstacle" ? 0 : Math.max(ra, rb) * 0.5), clear: clear, edge: pieces === 1 });
        from = to; ra = rb;
      }
    }
  }
  items.sort((a, b) => b.depth - a.depth);
  const deep = Math.max(furthest - nearest, 1.2 * size), edge = root.classList.contains("dark") ? "rgba(0,0,0,0.5)" : "rgba(20,30,48,0.30)";
  c.lineWidth = 0.8;
  for (const item of items) {
    const fog = Math.max(0, Math.min(16, Math.round(16 * ((item.whole || item.depth) - nearest) / deep)));
    c.globalAlpha = item.clear;
    if (item.spots) paintPatch(c, item.spots, shade(item.color, item.light, fog), item.clear === 1);
    else paintBar(c, item.p, item.q, item.a, item.b, item.color, fog, item.edge && item.clear === 1 ? edge : "");
  }
  c.globalAlpha = 1;
}

const largest = {};
for (const take of takes) for (const s of take.segments) for (const a of s.arrows)
  for (let k = 0; k < a.rows.n; k++) {
    const v = a.rows.values, d = Math.hypot(v[6 * k + 3], v[6 * k + 4], v[6 * k + 5]);
    if (d === d) largest[a.unit] = Math.max(largest[a.unit] || 0, d);
  }
function forces(c, states) {
  const row = new Array(6);
  for (const state of states) for (const arrow of state.segment.arrows) {
    between(arrow.rows, state.row, state.share, row);
    if (!row.every(x => x === x)) continue;
    const scale = 0.42 * size / largest[arrow.unit], o = state.by;
    const tail = [row[0] + o[0], row[1] + o[1], row[2] + o[2]];
    const head = [0, 1, 2].map(i => tail[i] + scale * row[3 + i]);
    paintArrow(c, look3(...tail, {}), look3(...head, {}), arrow.unit === "N m" ? look.Nm : look.N, arrow.unit === "N m" ? 2 : 1);
  }
}

function labels(c, states) {
  c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.lineJoin = "round";
  for (const state of states) {
    if (faint(state.take)) continue;
    const taken = [];
    for (const bar of state.segment.bars) {
      if (bar.joint < 0) continue;
      const p = 3 * bar.p, q = 3 * bar.q, at = state.points;
      const spot = look3((at[p] + at[q]) / 2, (at[p + 1] + at[q + 1]) / 2, (at[p + 2] + at[q + 2]) / 2, {});
      let y = spot.y;
      while (taken.some(([x, other]) => Math.abs(x - spot.x) < 90 && Math.abs(other - y) < 12)) y += 12;
      taken.push([spot.x, y]);
      const x = spot.x + bar.a * spot.f + 6, words = state.segment.joints[bar.joint];
      c.strokeStyle = look.halo; c.lineWidth = 3; c.strokeText(words, x, y);
      c.fillStyle = look.label; c.fillText(words, x, y);
    }
  }
}

function draw() {
  if (scene.curves_alone) film(); else picture();
}
function picture() {
  const [c, w, h] = fitted(get("scene"));
  aim(w, h);
  const states = takes.filter(take => take.shown && (!take.ghost || layers.ghosts) && (!inTurn(take) || layers.steps)).map(stateOf);
  if (layers.grid) grid(c);
  if (layers.shadows && !meshed()) shadows(c, states);
  if (layers.shadows && meshed() && eye.tilt > 0.01) meshLayer(c, states, w, h, true);
  if (layers.paths) ways(c, states);
  if (meshed()) meshLayer(c, states, w, h, false);
  solids(c, states);
  if (layers.forces) forces(c, states);
  if (layers.joints) labels(c, states);
  film();
}
function film() {
  if (plays) {
    chart();
    get("seek").value = 1000 * time / total;
    get("clock").textContent = time.toFixed(total < 0.2 ? 4 : total < 20 ? 2 : 1) + " / " + total.toFixed(total < 0.2 ? 4 : total < 20 ? 2 : 1) + " s";
  }
}

// Curves ------------------------------------------------------------------------------------------------------------

const kinds = [];  // label, unit, names, and lines: name, take, segment, column
for (const take of solid) for (const s of take.segments) for (const g of s.groups) {
  let kind = kinds.find(other => other.label === g.label && other.unit === g.unit);
  if (!kind) kinds.push(kind = { label: g.label, unit: g.unit, names: [], lines: [], on: new Map() });
  g.names.forEach((name, column) => {
    if (!kind.names.includes(name)) kind.names.push(name);
    kind.lines.push({ name: name, take: take, t: s.t, values: g.values, column: column });
  });
}
for (const kind of kinds) {
  const ranges = kind.names.map(name => {
    let low = Infinity, high = -Infinity;
    for (const line of kind.lines) if (line.name === name) for (let k = 0; k < line.values.n; k++) {
      const y = line.values.values[k * line.values.k + line.column];
      if (y < low) low = y; if (y > high) high = y;
    }
    return high - low;
  });
  const order = kind.names.map((_, k) => k).sort((a, b) => ranges[b] - ranges[a]);
  kind.names.forEach((name, k) => kind.on.set(name, kind.names.length <= COLORS || (order.indexOf(k) < 6 && ranges[k] > 1e-9)));
  kind.names.sort((a, b) => kind.on.get(b) - kind.on.get(a));
}
let kind = kinds[0];
const shownNames = () => kind.names.filter(name => kind.on.get(name));
// Of several solutions colours tell them apart, and dashes the joints.
const takeNumber = take => solid.indexOf(take) % COLORS, takeColor = take => look.palette[takeNumber(take)];
const dashOf = name => DASHES[(kind.names.length > 8 ? Math.max(0, shownNames().indexOf(name)) : kind.names.indexOf(name)) % DASHES.length];
function curveNumber(name) {
  const place = joints.indexOf(name);
  if (joints.length <= COLORS && place >= 0) return place;
  return Math.max(0, kind.names.length <= COLORS ? kind.names.indexOf(name) : shownNames().indexOf(name)) % COLORS;
}
const curveColor = (name, take) => many ? takeColor(take) : look.palette[curveNumber(name)];

let frame = null;  // of the chart: left, right
function chart() {
  const canvas = get("chart");
  if (!kind || !canvas.clientHeight) { frame = null; return; }
  const [c, w, h] = fitted(canvas), left = 50, right = w - 10, top = 17, bottom = h - 19;
  const style = getComputedStyle(root), ink = style.getPropertyValue("--ink"), muted = style.getPropertyValue("--muted"), rule = style.getPropertyValue("--line");
  const lines = kind.lines.filter(line => kind.on.get(line.name) && line.take.shown && !inTurn(line.take));
  let low = Infinity, high = -Infinity;
  for (const line of lines) for (let k = 0; k < line.values.n; k++) {
    const y = line.values.values[k * line.values.k + line.column];
    if (y < low) low = y; if (y > high) high = y;
  }
  if (!(low <= high)) { low = -1; high = 1; }
  if (high - low < 1e-9 * Math.max(1, Math.abs(high))) { low -= 1; high += 1; }
  const room = 0.06 * (high - low); low -= room; high += room;
  const X = t => left + t / total * (right - left), Y = y => bottom - (y - low) / (high - low) * (bottom - top);
  frame = [left, right];
  c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.lineWidth = 1;
  const [ys, digits] = ticks(low, high, h > 120 ? 4 : 3);
  for (const y of ys) {
    c.strokeStyle = rule; c.beginPath(); c.moveTo(left, Y(y)); c.lineTo(right, Y(y)); c.stroke();
    c.fillStyle = muted; c.textAlign = "right"; c.fillText(Math.abs(y) >= 1e5 ? y.toExponential(0) : y.toFixed(digits), left - 6, Y(y));
  }
  const [ts, places] = ticks(0, total, Math.max(2, Math.min(8, (right - left) / 90)));
  c.textAlign = "center";
  for (const t of ts) c.fillText(t.toFixed(places) + (t === ts[ts.length - 1] ? " s" : ""), Math.min(X(t), right - 8), h - 8);
  let free = -Infinity;
  for (const s of (series.length ? lead : solid[0]).segments) {  // phases, by name
    if (!s.name) continue;
    const a = X(s.t[0]), b = X(s.t[s.t.length - 1]), words = c.measureText(s.name).width, middle = (a + b) / 2;
    if (s.t[0] > 0) { c.strokeStyle = muted; c.setLineDash([2, 3]); c.beginPath(); c.moveTo(a, 4); c.lineTo(a, bottom); c.stroke(); c.setLineDash([]); }
    if (middle - words / 2 > free) { c.fillStyle = muted; c.fillText(s.name, middle, 7); free = middle + words / 2 + 6; }
  }
  c.save(); c.beginPath(); c.rect(left, top - 2, right - left, bottom - top + 4); c.clip();
  c.lineJoin = "round"; c.lineWidth = 1.6;
  for (const line of lines) {
    c.strokeStyle = curveColor(line.name, line.take); c.setLineDash(many ? dashOf(line.name)[1] : []);
    c.beginPath();
    for (let k = 0; k < line.values.n; k++) { const y = Y(line.values.values[k * line.values.k + line.column]); if (k) c.lineTo(X(line.t[k]), y); else c.moveTo(X(line.t[k]), y); }
    c.stroke();
  }
  c.restore(); c.setLineDash([]);
  c.strokeStyle = ink; c.lineWidth = 1.2; c.beginPath(); c.moveTo(X(time), top - 4); c.lineTo(X(time), bottom); c.stroke();
  for (const line of lines) {
    if (time < line.t[0] - 1e-9 || time > line.t[line.t.length - 1] + 1e-9) continue;
    const [row, share] = locate(line.t, time), v = line.values.values, k = line.values.k, next = Math.min(row + 1, line.values.n - 1);
    const y = v[row * k + line.column] + share * (v[next * k + line.column] - v[row * k + line.column]);
    c.fillStyle = curveColor(line.name, line.take); c.beginPath(); c.arc(X(time), Y(y), 3, 0, 7); c.fill();
    const value = kind.values && kind.values.get(line.name);
    if (value && !many) value.textContent = number(y);
  }
}
function number(y) { return Math.abs(y) >= 1000 ? y.toFixed(0) : Math.abs(y) >= 10 ? y.toFixed(1) : y.toFixed(2); }

function chips() {
  const list = get("names");
  list.textContent = "";
  kind.values = new Map();
  for (const name of kind.names) {
    const chip = document.createElement("button"), dot = document.createElement("i"), value = document.createElement("output");
    chip.className = "chip" + (kind.on.get(name) ? "" : " off");
    if (many) { dot.className = "dash"; dot.style.borderTopStyle = dashOf(name)[0]; } else dot.style.background = kind.on.get(name) ? swatch(curveNumber(name)) : "var(--muted)";
    chip.append(dot, name, value);
    chip.title = name;
    if (kind.names.length <= COLORS && innerWidth > 640) kind.values.set(name, value);
    chip.onclick = () => { kind.on.set(name, !kind.on.get(name)); chips(); };
    list.append(chip);
  }
  dirty = true;
}

// The controls -----------------------------------------------------------------------------------------------------

function chosen(list) { return list.reduce((all, item) => { all.append(item); return all; }, document.createDocumentFragment()); }
function option(value, words) { const o = document.createElement("option"); o.value = value; o.textContent = words; return o; }
function check(words, key) {
  const label = document.createElement("label"), box = document.createElement("input");
  box.type = "checkbox"; box.checked = layers[key];
  box.onchange = () => { layers[key] = box.checked; if (key === "beside") refit(); get("rate").hidden = !layers.rate; dirty = true; };
  label.append(box, words);
  return label;
}
const has = what => takes.some(take => take.segments.some(s => s.bars.concat(s.faces).some(part => part.what === what)));
const offered = [["grid", "floor"], ["shadows", "shadows"]];
if (meshes.length) offered.push(["meshes", "meshes"]);
if (takes.some(take => take.paths.length)) offered.push(["paths", "ways of tips"]);
if (Object.keys(largest).length) offered.push(["forces", "forces"]);
if (takes.some(take => take.segments.some(s => s.polylines.length))) offered.push(["muscles", "muscles"]);
if (has("shape")) offered.push(["shapes", "shapes"]);
if (has("marker")) offered.push(["markers", "markers"]);
if (takes.some(take => take.ghost)) offered.push(["ghosts", "guess"]);
if (takes.some(take => take.segments.some(s => s.bars.some(bar => bar.joint >= 0)))) offered.push(["joints", "names of joints"]);
if (series.length > 1) offered.push(["steps", "all iterates"]);
if (many) offered.push(["beside", "side by side"]);
offered.push(["rate", "pictures a second"]);
get("layers").querySelector(".menu").append(chosen(offered.map(([key, words]) => check(words, key))));

if (takes.length > 1 && !series.length) {
  get("legend").append(chosen(takes.map(take => {
    const item = document.createElement("button"), dot = document.createElement("i");
    dot.style.background = take.ghost ? "var(--muted)" : many ? swatch(takeNumber(take)) : "var(--accent)";
    item.append(dot, take.name);
    item.title = take.detail || take.name;
    item.onclick = () => { take.shown = !take.shown; item.classList.toggle("off", !take.shown); dirty = true; };
    return item;
  })));
}
for (const unit of Object.keys(largest)) {
  const item = document.createElement("span"), dot = document.createElement("i");
  dot.dataset.unit = unit;
  item.append(dot, (unit === "N m" ? "moment" : "force") + ", at most " + (largest[unit] >= 100 ? largest[unit].toFixed(0) : largest[unit].toPrecision(2)) + " " + unit);
  get("legend").append(item);
}
const sliders = model ? model.bodies.filter(b => b.slider).length : 0;
const blind = (scene.meshes || []).length && !painter ? "bars for meshes, as there is no WebGL here" : "";
const detail = () => [said(), blind].filter(Boolean).join(", ");
const said = () => many ? solid.length + " motions" : scene.live ? "solving: " + lead.name + ", " + lead.detail : lead.detail || (model ? sliders + (sliders === 1 ? " joint" : " joints") : "");
get("detail").textContent = detail();

const VIEWS = { oblique: null, front: [0, 0.08], right: [1, 0.08], back: [2, 0.08], left: [3, 0.08], top: [0, 1.5] };
function aimAt(name) {
  const plain = scene.plane || lead.track || lead.shift ? first.turn - (scene.plane ? (first.tilt > 1 ? 0 : 0.32) : 0.45) : 0;
  if (name === "free") return;
  const view = VIEWS[name];
  if (name !== "orbit") { eye.turn = view ? plain + view[0] * Math.PI / 2 : first.turn; eye.tilt = view ? view[1] : first.tilt; }
  eye.x = eye.y = 0; eye.zoom = 1;
  get("camera").value = name;
  refit();
}
get("camera").onchange = event => aimAt(event.target.value);

function theme(dark) {
  root.classList.toggle("dark", dark);
  look = dark ? LOOKS.dark : LOOKS.light;
  shades.clear();
  document.querySelectorAll("[data-unit]").forEach(dot => { dot.style.background = dot.dataset.unit === "N m" ? look.Nm : look.N; });
  dirty = true;
}
const prefers = matchMedia("(prefers-color-scheme: dark)");
prefers.addEventListener("change", event => theme(event.matches));
get("theme").onclick = () => theme(!root.classList.contains("dark"));
get("full").onclick = full;
if (!document.fullscreenEnabled) get("full").hidden = true;
function full() { if (document.fullscreenElement) document.exitFullscreen(); else if (document.fullscreenEnabled) root.requestFullscreen(); }

function play(on) {
  if (!plays) return;
  playing = on;
  get("play").textContent = on ? "\u2759\u2759" : "\u25b6";
  dirty = true;
}
function go(t) { time = Math.max(0, Math.min(total, t)); dirty = true; }
if (plays) {
  get("film").hidden = false;
  const paces = Array.from(new Set([0.1, 0.25, 0.5, 1, 2, 1 / factor])).sort((a, b) => a - b);
  const words = pace => pace < 1 ? "1/" + parseFloat((1 / pace).toPrecision(3)) + " speed" : pace === 1 ? "real time" : parseFloat(pace.toPrecision(3)) + "\u00d7 speed";
  get("pace").append(chosen(paces.map(pace => option(pace, words(pace)))));
  get("pace").value = 1 / factor;
  get("play").onclick = () => play(!playing);
  get("back").onclick = () => { play(false); go(time - total / 100); };
  get("next").onclick = () => { play(false); go(time + total / 100); };
  get("seek").oninput = event => { play(false); go(event.target.value / 1000 * total); };
  get("curves").hidden = !kinds.length;
  get("quantity").append(chosen(kinds.map((k, i) => option(i, k.label + (k.unit ? " [" + k.unit + "]" : "")))));
  get("quantity").onchange = event => { kind = kinds[event.target.value]; chips(); };
  if (kinds.length) chips();
  const pick = event => { if (frame) { play(false); go((event.offsetX - frame[0]) / (frame[1] - frame[0]) * total); } };
  get("chart").onpointerdown = event => { event.target.setPointerCapture(event.pointerId); pick(event); };
  get("chart").onpointermove = event => { if (event.buttons) pick(event); };
}

function step(k) {
  lead = series[Math.max(0, Math.min(series.length - 1, k))];
  total = lead.end; time = Math.min(time, total);
  get("step").value = lead.number; get("which").textContent = lead.name; get("detail").textContent = detail();
  dirty = true;
}
if (series.length > 1) {
  get("series").hidden = false;
  get("step").max = series.length - 1;
  get("step").oninput = event => step(+event.target.value);
  step(series.length - 1);
}

if (model) {
  const panel = get("sliders"), head = document.createElement("div"), rest = document.createElement("button"), title = document.createElement("b"), resets = [];
  panel.hidden = false; head.className = "head"; title.textContent = "Joints"; rest.textContent = "reset";
  head.append(title, rest); panel.append(head);
  for (const body of model.bodies) {
    if (!body.slider) continue;
    const label = document.createElement("label"), name = document.createElement("span"), value = document.createElement("output"), input = document.createElement("input"), start = body.q;
    name.textContent = name.title = body.name;
    if (colorful) { const dot = document.createElement("i"); dot.style.background = swatch(joints.indexOf(body.name)); name.prepend(dot); }
    input.type = "range"; input.min = Math.min(body.low, start); input.max = Math.max(body.high, start); input.step = "any"; input.setAttribute("aria-label", body.name);
    const set = q => { body.q = q; input.value = q; value.textContent = body.unit === "rad" ? (q * 180 / Math.PI).toFixed(1) + "\u00b0" : q.toFixed(3) + " m"; dirty = true; };
    input.oninput = () => set(+input.value);
    resets.push(() => set(start));
    set(start);
    label.append(name, value, input); panel.append(label);
  }
  rest.onclick = () => resets.forEach(reset => reset());
}

// Hands -----------------------------------------------------------------------------------------------------------

const canvas = get("scene"), fingers = new Map();
function byHand() { get("camera").value = "free"; dirty = true; }
function turnBy(dx, dy) { eye.turn -= 0.008 * dx; eye.tilt = Math.max(-0.05, Math.min(1.55, eye.tilt + 0.006 * dy)); byHand(); }
function zoomBy(by, x, y) {
  const before = eye.zoom;
  eye.zoom = Math.max(0.15, Math.min(20, eye.zoom * by));
  const share = eye.zoom / before - 1;
  eye.x -= share * (x - canvas.clientWidth / 2 - eye.x); eye.y -= share * (y - canvas.clientHeight / 2 - eye.y);
  dirty = true;
}
canvas.onpointerdown = event => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, [event.offsetX, event.offsetY]); get("layers").open = false; };
canvas.onpointerup = canvas.onpointercancel = event => fingers.delete(event.pointerId);
canvas.onpointermove = event => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const now = [event.offsetX, event.offsetY], dx = now[0] - before[0], dy = now[1] - before[1];
  if (fingers.size === 1) {
    if (event.shiftKey || event.buttons & 6) { eye.x += dx; eye.y += dy; dirty = true; } else turnBy(dx, dy);
  } else if (fingers.size === 2) {
    const other = Array.from(fingers).find(([id]) => id !== event.pointerId)[1];
    const old = Math.hypot(before[0] - other[0], before[1] - other[1]), fresh = Math.hypot(now[0] - other[0], now[1] - other[1]);
    eye.x += dx / 2; eye.y += dy / 2;
    if (old > 5) zoomBy(fresh / old, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }
  fingers.set(event.pointerId, now);
};
canvas.oncontextmenu = event => event.preventDefault();
canvas.ondblclick = () => aimAt("oblique");
canvas.addEventListener("wheel", event => { event.preventDefault(); zoomBy(Math.exp(-0.0015 * event.deltaY), event.offsetX, event.offsetY); }, { passive: false });
document.onkeydown = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
  const far = event.shiftKey, middle = [canvas.clientWidth / 2, canvas.clientHeight / 2];
  const actions = {
    " ": () => play(!playing), ArrowLeft: () => { play(false); go(time - total / (far ? 10 : 100)); }, ArrowRight: () => { play(false); go(time + total / (far ? 10 : 100)); },
    Home: () => go(0), End: () => go(total), "+": () => zoomBy(1.2, ...middle), "=": () => zoomBy(1.2, ...middle), "-": () => zoomBy(1 / 1.2, ...middle),
    a: () => turnBy(-12, 0), d: () => turnBy(12, 0), w: () => turnBy(0, 12), s: () => turnBy(0, -12),
    ",": () => series.length && step(lead.number - 1), ".": () => series.length && step(lead.number + 1),
    t: () => theme(!root.classList.contains("dark")), f: full, o: () => aimAt("orbit"), r: () => aimAt("oblique"),
  };
  Object.keys(VIEWS).forEach((name, k) => { actions[k + 1] = () => aimAt(name); });
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
};

// Time ------------------------------------------------------------------------------------------------------------

let before = null, spent = 0, pictures = 0, since = 0;
function tick(now) {
  const passed = before === null ? 0 : Math.max(0, Math.min(0.1, (now - before) / 1000));
  before = now;
  if (playing) {
    time += passed * get("pace").value;
    if (time > total) {
      if (shift) { time -= total; laps++; }
      else if (time > total + 0.6 * get("pace").value) time = 0;
    }
    dirty = true;
  }
  if (get("camera").value === "orbit") { eye.turn += 0.3 * passed; dirty = true; }
  if (dirty) {
    const begin = performance.now(), shown = time;
    dirty = false;
    time = Math.min(time, total);
    draw();
    time = shown;
    spent += performance.now() - begin;
    pictures++;
  }
  if (now - since > 1000) {
    get("rate").textContent = pictures > 3 ? Math.round(1000 * pictures / (now - since)) + " fps \u00b7 " + (spent / pictures).toFixed(1) + " ms" : "";
    since = now; spent = pictures = 0;
  }
  requestAnimationFrame(tick);
}
// Pages of a solve in a notebook follow each other in frames that come and go: what is seen is kept in the tab's memory.
const memory = (() => { try { return scene.key && window.top !== window ? window.sessionStorage : null; } catch (error) { return null; } })();
// What stands after # of the address: #t=0.35&play=0&turn=0.5&tilt=0.2&zoom=1&theme=dark&show=joints,beside&curves=1&step=3
// With frame=1 there is the picture alone, on white.
const asked = new URLSearchParams(location.hash.slice(1) || (memory && memory.getItem(scene.key)) || "");
root.classList.toggle("frame", asked.get("frame") === "1");
root.classList.toggle("plain", Boolean(scene.curves_alone));
theme(asked.has("theme") ? asked.get("theme") === "dark" : prefers.matches);
for (const key of (asked.get("show") || "").split(",")) if (key in layers) layers[key] = true;
for (const key of (asked.get("hide") || "").split(",")) if (key in layers) layers[key] = false;
get("rate").hidden = !layers.rate;
get("layers").querySelectorAll("input").forEach((box, k) => { box.checked = layers[offered[k][0]]; });
aimAt("oblique");
if (asked.has("view") && asked.get("view") in VIEWS) aimAt(asked.get("view"));
for (const key of ["turn", "tilt", "zoom", "x", "y"]) if (asked.has(key)) eye[key] = +asked.get(key);
if (asked.has("turn")) get("camera").value = "free";
if (kinds[asked.get("curves")]) { get("quantity").value = asked.get("curves"); kind = kinds[asked.get("curves")]; chips(); }
if (series.length && asked.has("step")) step(+asked.get("step"));
play(playing && asked.get("play") !== "0" && (asked.get("play") === "1" || !asked.has("t")));
if (asked.has("t")) go(+asked.get("t"));

function seen() {
  const keys = Object.keys(layers), state = {
    t: time, play: playing ? 1 : 0, turn: eye.turn, tilt: eye.tilt, zoom: eye.zoom, x: eye.x, y: eye.y,
    theme: root.classList.contains("dark") ? "dark" : "light", curves: kinds.indexOf(kind),
    show: keys.filter(key => layers[key]), hide: keys.filter(key => !layers[key]),
  };
  if (get("camera").value in VIEWS) { delete state.turn; delete state.tilt; state.view = get("camera").value; }
  if (lead !== newest) state.step = lead.number;
  return String(new URLSearchParams(state));
}
// While a solve runs the page is written anew, and loads itself with what is seen as it is. No page in a frame does.
function again() {
  if (fingers.size || document.hidden) { setTimeout(again, 300); return; }
  location.replace("#" + seen());
  location.reload();
}
if (memory) setInterval(() => memory.setItem(scene.key, seen()), 200);
if (scene.live && window.top === window) setTimeout(again, 2000);
new ResizeObserver(refit).observe(canvas);
if (plays) new ResizeObserver(() => { dirty = true; }).observe(get("chart"));
refit();
tick(performance.now());
}
