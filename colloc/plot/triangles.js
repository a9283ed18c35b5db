"use strict";
// Meshes as WebGL draws them, seen as viewer.js sees bars -----------------------------------------------------------------

// Corners of triangles one after another, six numbers each: a place and a unit normal, which is the mean of those faces
// around a vertex that meet at less than an angle, so that round things are smooth and edges sharp.
function cornersOf(vertices, faces, angle) {
  const count = faces.length / 3, normals = new Float64Array(faces.length), units = new Float64Array(faces.length);
  const n = vertices.length / 3, first = new Uint32Array(n + 1), around = new Uint32Array(faces.length), out = new Float32Array(6 * faces.length);
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [3 * faces[3 * f], 3 * faces[3 * f + 1], 3 * faces[3 * f + 2]];
    for (let i = 0; i < 3; i++) {
      const j = (i + 1) % 3, k = (i + 2) % 3;
      normals[3 * f + i] = (vertices[b + j] - vertices[a + j]) * (vertices[c + k] - vertices[a + k]) - (vertices[b + k] - vertices[a + k]) * (vertices[c + j] - vertices[a + j]);
    }
    const long = Math.hypot(normals[3 * f], normals[3 * f + 1], normals[3 * f + 2]) || 1;
    for (let i = 0; i < 3; i++) units[3 * f + i] = normals[3 * f + i] / long;
  }
  for (const vertex of faces) first[vertex + 1]++;
  for (let v = 0; v < n; v++) first[v + 1] += first[v];
  const next = first.slice();
  faces.forEach((vertex, corner) => { around[next[vertex]++] = Math.floor(corner / 3); });
  const near = Math.cos(angle);
  faces.forEach((vertex, corner) => {
    const own = 3 * Math.floor(corner / 3), sum = [0, 0, 0];
    for (let k = first[vertex]; k < first[vertex + 1]; k++) {
      const f = 3 * around[k], along = units[own] * units[f] + units[own + 1] * units[f + 1] + units[own + 2] * units[f + 2];
      if (along >= near || f === own) for (let i = 0; i < 3; i++) sum[i] += normals[f + i];
    }
    const long = Math.hypot(...sum) || 1;
    for (let i = 0; i < 3; i++) { out[6 * corner + i] = vertices[3 * vertex + i]; out[6 * corner + 3 + i] = sum[i] / long; }
  });
  return out;
}

// Vertices and faces of a bar with hemispheres at its ends, of radii a and b.
function capsuleMesh(p, q, a, b) {
  const along = [0, 1, 2].map(i => q[i] - p[i]), long = Math.hypot(...along), e = long > 1e-9 ? along.map(x => x / long) : [0, 0, 1];
  const least = [0, 1, 2].reduce((k, i) => Math.abs(e[i]) < Math.abs(e[k]) ? i : k, 0), side = [0, 0, 0], vertices = [], faces = [], round = 24, steps = 6;
  side[least] = 1;
  const r = [0, 1, 2].map(i => e[(i + 1) % 3] * side[(i + 2) % 3] - e[(i + 2) % 3] * side[(i + 1) % 3]), d = Math.hypot(...r), u = r.map(x => x / d);
  const v = [0, 1, 2].map(i => e[(i + 1) % 3] * u[(i + 2) % 3] - e[(i + 2) % 3] * u[(i + 1) % 3]);
  for (let ring = 0; ring < 2 * (steps + 1); ring++) {
    const [centre, radius] = ring <= steps ? [p, a] : [q, b], tilt = (ring <= steps ? ring - steps : ring - steps - 1) / steps * Math.PI / 2;
    for (let k = 0; k < round; k++) {
      const turn = 2 * Math.PI * k / round, wide = radius * Math.cos(tilt);
      for (let i = 0; i < 3; i++) vertices.push(centre[i] + radius * Math.sin(tilt) * e[i] + wide * (Math.cos(turn) * u[i] + Math.sin(turn) * v[i]));
      if (ring) {
        const here = ring * round + k, beside = ring * round + (k + 1) % round;
        faces.push(here - round, beside - round, beside, here - round, beside, here);
      }
    }
  }
  return [vertices, faces];
}

// What of a segment stands in the world, as one mesh: bars and faces of a look.
function standingMesh(segment, look, points) {
  const vertices = [], faces = [], at = k => [points[3 * k], points[3 * k + 1], points[3 * k + 2]];
  const add = (more, numbers) => { const from = vertices.length / 3; vertices.push(...more); faces.push(...numbers.map(k => from + k)); };
  for (const bar of segment.bars) if (bar.what === look) add(...capsuleMesh(at(bar.p), at(bar.q), bar.a, bar.b));
  for (const face of segment.faces) if (face.what === look)
    add(face.points.flatMap(at), face.points.slice(2).flatMap((_, k) => [0, k + 1, k + 2]));
  return [vertices, faces];
}

const VERTEX = `
attribute vec3 place, normal; attribute vec4 color;
uniform mat4 link; uniform vec3 right, above, eye, middle, lift; uniform vec4 view; uniform float far, height; uniform mediump float shadow;
varying vec3 n; varying vec4 paint;
void main() {
  vec4 world = link * vec4(place, 1.0);
  world.xyz = mix(world.xyz, world.xyz * (1.0 - lift) + height * lift, shadow);
  vec3 d = world.xyz - middle, m = (link * vec4(normal, 0.0)).xyz;
  float w = 1.0 - dot(eye, d) / far;
  n = vec3(dot(right, m), dot(above, m), dot(eye, m)); paint = color;
  gl_Position = vec4(view.x * w + view.z * dot(right, d), view.y * w + view.w * dot(above, d), 1.01 * w - 0.1, w);
}`;
const FRAGMENT = `
precision mediump float;
uniform vec3 light; uniform float clear, shadow;
varying vec3 n; varying vec4 paint;
void main() {
  vec3 m = normalize(gl_FrontFacing ? n : -n);
  float lit = 0.25 + 0.75 * max(0.0, dot(m, light)), shine = pow(max(0.0, dot(m, normalize(light + vec3(0.0, 0.0, 1.0)))), 40.0);
  vec3 c = mix(vec3(0.063, 0.086, 0.141), paint.rgb, 0.3 + 0.7 * lit) + 0.12 * shine;
  float a = paint.a * clear;
  gl_FragColor = shadow > 0.5 ? vec4(0.0, 0.0, 0.0, 1.0) : vec4(min(c, 1.0) * a, a);
}`;

// Draws meshes into a canvas of its own; null where there is no WebGL.
function meshPainter() {
  const canvas = document.createElement("canvas"), gl = canvas.getContext("webgl", { antialias: true });
  if (!gl) return null;
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
  }
  ["place", "normal", "color"].forEach((name, k) => gl.bindAttribLocation(program, k, name));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const spot = name => gl.getUniformLocation(program, name);
  const buffer = data => { const b = gl.createBuffer(); gl.bindBuffer(gl.ARRAY_BUFFER, b); gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW); return b; };

  // Something to be drawn: colours are four bytes, or four for each triangle.
  function part(vertices, faces, colors) {
    const corners = cornersOf(vertices, faces, 0.6), count = faces.length;
    let paint = null, clear = colors[3] < 255;
    if (colors.length > 4) {
      const each = new Uint8Array(4 * count);
      for (let k = 0; k < count; k++) for (let i = 0; i < 4; i++) each[4 * k + i] = colors[4 * Math.floor(k / 3) + i];
      for (let k = 3; k < colors.length; k += 4) clear = clear || colors[k] < 255;
      paint = buffer(each);
    }
    return { corners: buffer(corners), paint: paint, color: Array.from(colors.slice(0, 4), x => x / 255), count: count, clear: clear };
  }
  function put(item) {
    const f = item.frame, p = item.part;
    gl.uniformMatrix4fv(spot("link"), false, [f[0], f[4], f[8], 0, f[1], f[5], f[9], 0, f[2], f[6], f[10], 0, f[3], f[7], f[11], 1]);
    gl.uniform1f(spot("clear"), item.clear);
    gl.bindBuffer(gl.ARRAY_BUFFER, p.corners);
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 24, 0);
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 24, 12);
    if (p.paint && !item.color) { gl.bindBuffer(gl.ARRAY_BUFFER, p.paint); gl.enableVertexAttribArray(2); gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 4, 0); }
    else { gl.disableVertexAttribArray(2); gl.vertexAttrib4f(2, ...(item.color || p.color)); }
    gl.drawArrays(gl.TRIANGLES, 0, p.count);
  }
  // A picture of items: part, frame, clear and perhaps a colour; or their shadows on a floor, { axis, height }.
  function draw(width, height, ratio, lens, light, items, floor) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0); gl.depthMask(true); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniform3fv(spot("right"), lens.axes.right); gl.uniform3fv(spot("above"), lens.axes.above); gl.uniform3fv(spot("eye"), lens.axes.eye);
    gl.uniform3fv(spot("middle"), lens.middle); gl.uniform1f(spot("far"), lens.far); gl.uniform3fv(spot("light"), light);
    gl.uniform4f(spot("view"), 2 * lens.x / width - 1, 1 - 2 * lens.y / height, 2 * lens.scale / width, 2 * lens.scale / height);
    gl.uniform3fv(spot("lift"), [0, 1, 2].map(i => floor && floor.axis === i ? 1 : 0));
    gl.uniform1f(spot("height"), floor ? floor.height : 0); gl.uniform1f(spot("shadow"), floor ? 1 : 0);
    const whole = item => item.clear === 1 && !item.part.clear;
    gl.disable(gl.BLEND);
    items.filter(item => floor || whole(item)).forEach(put);
    if (!floor) { gl.enable(gl.BLEND); gl.depthMask(false); items.filter(item => !whole(item)).forEach(put); }
    return canvas;
  }
  return { part: part, draw: draw, lost: () => gl.isContextLost() };
}

// The parts of a scene, as Python packs them.
function meshParts(painter, meshes) {
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return meshes.map(mesh => {
    const faces = bytes(mesh.faces), numbers = mesh.wide ? new Uint32Array(faces.buffer) : new Uint16Array(faces.buffer);
    return { body: mesh.body, part: painter.part(unpack(mesh.vertices).values, numbers, bytes(mesh.colors)) };
  });
}

if (typeof module !== "undefined") module.exports = { cornersOf, capsuleMesh, standingMesh };
